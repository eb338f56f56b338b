//! server HOST:PORT THREADS: the plain answers with axum.

use axum::{Json, Router, routing::get};
use serde::Serialize;
use tokio::net::TcpListener;

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

async fn serve(bind: String) {
    let app = Router::new().route("/", get(hello)).route("/json", get(json));
    let listener = TcpListener::bind(bind).await.unwrap();
    axum::serve(listener, app).await.unwrap();
}

fn main() {
    let mut told = std::env::args().skip(1);
    let (bind, threads) = (told.next().unwrap(), told.next().unwrap().parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(serve(bind));
}
