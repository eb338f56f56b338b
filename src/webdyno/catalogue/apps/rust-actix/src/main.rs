//! server HOST PORT WORKERS: the plain answers with Actix Web.

use actix_web::{App, HttpServer, Responder, get, http::KeepAlive, web};
use serde::Serialize;
use std::time::Duration;

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

#[get("/")]
async fn hello() -> impl Responder {
    "Hello, World!"
}

#[get("/json")]
async fn json() -> impl Responder {
    web::Json(Message { message: "Hello, World!" })
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let mut told = std::env::args().skip(1);
    let (host, port) = (told.next().unwrap(), told.next().unwrap().parse().unwrap());
    let workers: usize = told.next().unwrap().parse().unwrap();
    HttpServer::new(|| App::new().service(hello).service(json))
        .workers(workers)
        .backlog(2048)
        .keep_alive(KeepAlive::Timeout(Duration::from_secs(60))) // 5 s unless told
        .bind((host, port))?
        .run()
        .await
}
