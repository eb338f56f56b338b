//! server HOST PORT WORKERS: the plain answers with ntex.

use ntex::SharedCfg;
use ntex::http::HttpServiceConfig;
use ntex::web::{self, App, HttpServer, Responder};
use serde::Serialize;

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

#[web::get("/")]
async fn hello() -> impl Responder {
    "Hello, World!"
}

#[web::get("/json")]
async fn json() -> impl Responder {
    web::types::Json(Message { message: "Hello, World!" })
}

#[ntex::main]
async fn main() -> std::io::Result<()> {
    let mut told = std::env::args().skip(1);
    let (host, port): (String, u16) = (told.next().unwrap(), told.next().unwrap().parse().unwrap());
    let workers: usize = told.next().unwrap().parse().unwrap();
    let keep = HttpServiceConfig::new().set_keepalive(60_usize); // 5 s unless told
    HttpServer::new(async || App::new().service((hello, json)))
        .workers(workers)
        .backlog(2048)
        .config(SharedCfg::new("http").add(keep))
        .bind((host, port))?
        .run()
        .await
}
