//! server HOST:PORT THREADS: the plain answers with hyper alone.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use std::convert::Infallible;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpSocket};

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, kind, body) = match request.uri().path() {
        "/" => (StatusCode::OK, "text/plain; charset=utf-8", Bytes::from("Hello, World!")),
        "/json" => {
            let message = Message { message: "Hello, World!" };
            let body = serde_json::to_vec(&message).unwrap();
            (StatusCode::OK, "application/json", Bytes::from(body))
        }
        _ => (StatusCode::NOT_FOUND, "text/plain; charset=utf-8", Bytes::from("not found")),
    };
    let response = Response::builder().status(status).header(CONTENT_TYPE, kind);
    Ok(response.body(Full::new(body)).unwrap())
}

/// Tokio by itself asks for a queue of 128 connections.
fn listen(bind: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(bind)?;
    socket.listen(1024)
}

async fn serve(bind: SocketAddr) {
    let listener = listen(bind).unwrap();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        tokio::spawn(async move {
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer));
            let _ = connection.await; // a client that goes away is no error of the server
        });
    }
}

fn main() {
    let mut told = std::env::args().skip(1);
    let (bind, threads) = (told.next().unwrap().parse().unwrap(), told.next().unwrap().parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap();
    runtime.block_on(serve(bind));
}
