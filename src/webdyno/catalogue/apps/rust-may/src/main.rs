//! server HOST:PORT THREADS: the plain answers with may_minihttp, in stackful coroutines.

use may_minihttp::{HttpServer, HttpService, Request, Response};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

#[derive(Clone)]
struct Answers;

impl HttpService for Answers {
    fn call(&mut self, request: Request, response: &mut Response) -> io::Result<()> {
        match request.path() {
            "/" => {
                response.header("Content-Type: text/plain; charset=utf-8").body("Hello, World!");
            }
            "/json" => {
                let message = Message { message: "Hello, World!" };
                let body = serde_json::to_vec(&message)?;
                response.header("Content-Type: application/json").body_vec(body);
            }
            _ => {
                response.status_code(404, "Not Found").body("not found");
            }
        }
        Ok(())
    }
}

fn main() {
    let mut told = std::env::args().skip(1);
    let (bind, threads) = (told.next().unwrap(), told.next().unwrap().parse().unwrap());
    may::config().set_workers(threads);
    HttpServer(Answers).start(bind).unwrap().join().unwrap();
}
