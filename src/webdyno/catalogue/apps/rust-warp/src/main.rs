//! server HOST:PORT THREADS: the plain answers with warp.

use serde::Serialize;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpSocket};
use warp::Filter;

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

/// Tokio by itself asks for a queue of 128 connections.
fn listen(bind: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(bind)?;
    socket.listen(1024)
}

async fn serve(bind: SocketAddr) {
    let hello = warp::path::end().map(|| "Hello, World!");
    let json = warp::path!("json").map(|| warp::reply::json(&Message { message: "Hello, World!" }));
    let server = warp::serve(warp::get().and(hello.or(json))).incoming(listen(bind).unwrap());
    server.run().await;
}

fn main() {
    let mut told = std::env::args().skip(1);
    let (bind, threads) = (told.next().unwrap().parse().unwrap(), told.next().unwrap().parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap();
    runtime.block_on(serve(bind));
}
