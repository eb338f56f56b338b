//! A scripted server and the engine as a process, so that a test reads: what the server does, what the engine says.

use base64::{Engine, engine::general_purpose::STANDARD};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use rustix::net::sockopt;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// An answer as most servers write it.
pub const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// One connection, as the script sees it.
pub struct Peer {
    stream: BufReader<TcpStream>,
    /// Which connection of the server this is, from 0.
    pub number: usize,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Peer {
    /// The next request's header block; `None`: the engine has closed.
    pub fn head(&mut self) -> Option<String> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        Some(head)
    }

    /// The next request's header block, once its body has come too; `None`: the engine has closed.
    pub fn request(&mut self) -> Option<String> {
        let head = self.head()?;
        let length = head.lines().find_map(|l| l.strip_prefix("Content-Length: ")).map_or(0, |n| n.parse().unwrap());
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        self.heard.lock().unwrap().push(head.clone());
        Some(head)
    }

    /// The next bytes, so many; `None`: the engine has closed.
    pub fn take(&mut self, bytes: usize) -> Option<Vec<u8>> {
        let mut taken = vec![0; bytes];
        self.stream.read_exact(&mut taken).ok()?;
        Some(taken)
    }

    /// Writes; an engine that has gone is no error of the script.
    pub fn say(&mut self, text: impl AsRef<[u8]>) {
        self.says(text);
    }

    /// Writes; `false`: the engine has gone.
    pub fn says(&mut self, text: impl AsRef<[u8]>) -> bool {
        self.stream.get_mut().write_all(text.as_ref()).is_ok()
    }

    /// Writes the same without end, as fast as it is taken, until the engine closes.
    pub fn flood(&mut self, text: &str) {
        let much = text.repeat(64 * 1024 / text.len());
        while self.says(&much) {}
    }

    /// Ends one side of the connection.
    pub fn shut(&mut self, side: Shutdown) {
        let _ = self.stream.get_ref().shutdown(side);
    }

    /// Neither reads nor closes, for as long as the test runs.
    pub fn keep(self) {
        std::mem::forget(self);
    }

    /// Answers every request alike until the engine closes.
    pub fn always(&mut self, text: &str) {
        while self.request().is_some() {
            self.say(text);
        }
    }

    /// Says nothing more, and does not close, until the engine does.
    pub fn hang(&mut self) {
        let _ = self.stream.read_to_end(&mut Vec::new());
    }

    /// A second handle of the connection, for what happens while the script waits.
    pub fn clone_stream(&self) -> TcpStream {
        self.stream.get_ref().try_clone().unwrap()
    }

    /// The connection as it is, for a script that speaks something else on it.
    pub fn into_stream(self) -> TcpStream {
        self.stream.into_inner()
    }

    /// Ends with a reset in place of an orderly end.
    pub fn reset(self) {
        sockopt::set_socket_linger(self.stream.get_ref(), Some(Duration::ZERO)).unwrap();
    }
}

/// A server that plays one script on every connection.
pub struct Server {
    pub address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn start(script: impl Fn(Peer) + Send + Sync + 'static) -> Server {
        Server::on(TcpListener::bind("127.0.0.1:0").unwrap(), script)
    }

    pub fn on(listener: TcpListener, script: impl Fn(Peer) + Send + Sync + 'static) -> Server {
        let (accepted, heard) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let server =
            Server { address: listener.local_addr().unwrap(), accepted: accepted.clone(), heard: heard.clone() };
        let script = Arc::new(script);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                stream.set_nodelay(true).unwrap();
                let stream = BufReader::new(stream);
                let peer = Peer { stream, number: accepted.fetch_add(1, Ordering::SeqCst), heard: heard.clone() };
                let script = script.clone();
                thread::spawn(move || script(peer));
            }
        });
        server
    }

    /// Connections that came.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Header blocks of the requests that came whole.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    /// An order for this server: one connection, ten requests, generous timeouts.
    pub fn order(&self) -> Value {
        json!({
            "schema": 1, "target": {"host": self.address.ip().to_string(), "port": self.address.port()},
            "requests": [{"name": "hello", "method": "GET", "path": "/"}],
            "pace": {"kind": "closed", "connections": 1}, "count": 10, "warmup_ns": 0, "timeout_ns": 20_000_000_000_u64,
            "connect_timeout_ns": 20_000_000_000_u64, "keep_alive": true, "http": "1.1", "threads": 1, "cpus": [],
            "slice_ns": 1_000_000_000
        })
    }

    /// Runs the engine with the order above, edited.
    pub fn load(&self, edit: impl FnOnce(&mut Value)) -> Said {
        let mut order = self.order();
        edit(&mut order);
        run(&order.to_string())
    }
}

/// What the engine said, and how it ended.
pub struct Said {
    pub lines: Vec<Value>,
    pub exit: i32,
}

impl Said {
    /// The last line, which is the summary (or the fault).
    pub fn last(&self) -> &Value {
        self.lines.last().expect("a line")
    }

    /// A count of the summary.
    pub fn count(&self, key: &str) -> u64 {
        self.last()[key].as_u64().unwrap_or_else(|| panic!("{key} in {}", self.last()))
    }

    /// Errors of one kind in the summary.
    pub fn errors(&self, kind: &str) -> u64 {
        self.last()["errors"][kind].as_u64().unwrap_or_else(|| panic!("{kind} in {}", self.last()))
    }

    pub fn text(&self, key: &str) -> &str {
        self.last()[key].as_str().unwrap_or_else(|| panic!("{key} in {}", self.last()))
    }
}

/// A histogram as the lines carry it.
pub fn histogram(text: &Value) -> Histogram<u64> {
    let bytes = STANDARD.decode(text.as_str().expect("a histogram")).unwrap();
    Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap()
}

/// The engine, begun and given its order.
pub fn begin(order: &str) -> Child {
    begin_as(Command::new(env!("CARGO_BIN_EXE_webdyno-engine")), order)
}

pub fn begin_as(mut command: Command, order: &str) -> Child {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(with_backend(order).as_bytes()).unwrap();
    child
}

/// The order, with the back end that is being tested where it is one that could be carried out.
fn with_backend(order: &str) -> String {
    let mut value: Value = serde_json::from_str(order).unwrap();
    let Some(backend) = crate::BACKEND.filter(|_| value["target"].is_object()) else { return order.to_string() };
    let is_about_schemas = value["schema"] != 3 && needs_3(&value);
    if is_about_schemas {
        return order.to_string();
    }
    (value["schema"], value["backend"]) = (schema(1).into(), backend.into());
    value.to_string()
}

/// Whether an order says what older schemas do not know: its test is about that.
fn needs_3(order: &Value) -> bool {
    let requests = order["requests"].as_array();
    let templates = requests.is_some_and(|all| all.iter().any(|r| !r["template"].is_null()));
    templates || !order["target"]["unix"].is_null() || order["pace"]["kind"] == "closed-stages"
}

/// The schema that an order written for `schema` has here: back ends are told since 3, which has all of those before.
pub fn schema(schema: u64) -> u64 {
    if crate::BACKEND.is_some() { 3 } else { schema }
}

/// The engine from order to end.
pub fn run(order: &str) -> Said {
    end(begin(order), Vec::new())
}

/// What the engine has still to say after the lines `before`, and its end.
pub fn end(mut child: Child, mut before: Vec<Value>) -> Said {
    let mut text = String::new();
    if let Some(mut out) = child.stdout.take() {
        out.read_to_string(&mut text).unwrap();
    }
    before.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
    let said = Said { lines: before, exit: child.wait().unwrap().code().unwrap() };
    check_sums(&said);
    said
}

/// What holds in every run: each request has one outcome, and the summary is the sum of the steady slices, or of the turns it says.
fn check_sums(said: &Said) {
    let ended = |v: &Value| {
        let errors: u64 = v["errors"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(v["offered"].as_u64().unwrap(), v["ok"].as_u64().unwrap() + errors, "{v}");
        v["offered"].as_u64().unwrap()
    };
    if said.lines.last().is_none_or(|line| line["event"] != "summary") {
        return;
    }
    let slices = said.lines.iter().filter(|line| line["event"] == "slice");
    // The lead of a turn has the number of its turn.
    let whole = slices.clone().filter(|s| s["phase"] != "lead");
    let indices: Vec<u64> = whole.map(|s| s["index"].as_u64().unwrap()).collect();
    assert_eq!((0..indices.len() as u64).collect::<Vec<_>>(), indices);
    let of = said.last()["of"].as_str().unwrap_or("steady");
    let steady: u64 = slices.filter(|s| s["phase"] == of).map(ended).sum();
    assert_eq!(steady, ended(said.last()));
    let threads: u64 = said.last()["threads"].as_array().unwrap().iter().map(|t| t["requests"].as_u64().unwrap()).sum();
    assert_eq!(steady, threads);
}
