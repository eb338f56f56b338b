//! server HOST:PORT THREADS: the plain answers with axum.

use axum::{Json, Router, routing::get};
use serde::Serialize;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpSocket};

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

async fn hello() -> &'static str {
    "Hello, World!"
}

async fn json() -> Json<Message> {
    Json(Message { message: "Hello, World!" })
}

/// Tokio by itself asks for a queue of 128 connections.
fn listen(bind: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(bind)?;
    socket.listen(1024)
}

async fn serve(bind: SocketAddr) {
    let app = Router::new().route("/", get(hello)).route("/json", get(json));
    let listener = listen(bind).unwrap();
    axum::serve(listener, app).await.unwrap();
}

fn main() {
    let mut told = std::env::args().skip(1);
    let (bind, threads) = (told.next().unwrap().parse().unwrap(), told.next().unwrap().parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap();
    runtime.block_on(serve(bind));
}
