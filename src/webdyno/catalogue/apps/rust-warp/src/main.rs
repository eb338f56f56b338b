//! server HOST:PORT THREADS: the plain answers with warp.

use serde::Serialize;
use std::net::SocketAddr;
use warp::Filter;

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

async fn serve(bind: SocketAddr) {
    let hello = warp::path::end().map(|| "Hello, World!");
    let json = warp::path!("json").map(|| warp::reply::json(&Message { message: "Hello, World!" }));
    warp::serve(warp::get().and(hello.or(json))).run(bind).await;
}

fn main() {
    let mut told = std::env::args().skip(1);
    let (bind, threads) = (told.next().unwrap(), told.next().unwrap().parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(serve(bind.parse().unwrap()));
}
