//! server HOST:PORT THREADS: the plain answers with Salvo.

use salvo::prelude::*;
use serde::Serialize;

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

#[handler]
async fn hello() -> &'static str {
    "Hello, World!"
}

#[handler]
async fn json(res: &mut Response) {
    res.render(Json(Message { message: "Hello, World!" }));
}

async fn serve(bind: String) {
    let router = Router::new().get(hello).push(Router::with_path("json").get(json));
    let acceptor = TcpListener::new(bind).backlog(1024).bind().await;
    Server::new(acceptor).serve(router).await;
}

fn main() {
    let mut told = std::env::args().skip(1);
    let (bind, threads) = (told.next().unwrap(), told.next().unwrap().parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap();
    runtime.block_on(serve(bind));
}
