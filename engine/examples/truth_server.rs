//! An HTTP server that misbehaves in one known way and keeps exact books: what a load tool's claims are held against.
//!
//! `truth_server BEHAVIOUR [--seconds N] [--seed N]` listens on 127.0.0.1, prints its port, and serves until its standard input
//! ends; then it prints its books as one line of JSON. It ends by itself after the seconds (60 unless told). One thread per
//! connection and blocking calls: slow, and simple enough to be believed.
//!
//! Delays come from a seed and the request's number, so two runs draw the same ones. A sleeping thread wakes late, so the books
//! hold what each delay really was, from the request's last byte read until the answer's first byte written.

#![forbid(unsafe_code)]

use nix::time::{ClockId, clock_gettime};
use rustix::net::sockopt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const BODY: &str = "Hello, World!";
const PERIOD: Duration = Duration::from_secs(5);
const AWAKE: Duration = Duration::from_secs(4);
const SERVICE: Duration = Duration::from_millis(2);
const MEDIAN_S: f64 = 0.020;

/// How an answer is given. Each name is the one on the command line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Right,
    SilentClose,
    AnnouncedClose,
    UntilClose,
    Truncated,
    Reset,
    All500,
    Never,
    Chunked,
    NoHeader,
    Surplus,
}

/// What comes before the answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    None,
    /// The whole server stands still for one second in every five.
    Freeze,
    /// 0 to 40 ms, all alike.
    Uniform,
    /// 5 ms, or 100 ms for 15 requests in a hundred.
    Bimodal,
    /// Median 20 ms, sigma 1.
    LogNormal,
    /// One request at a time, 2 ms each.
    Serial,
}

const BEHAVIOURS: &[(&str, Way, Wait)] = &[
    ("right", Way::Right, Wait::None),
    ("silent-close", Way::SilentClose, Wait::None),
    ("announced-close", Way::AnnouncedClose, Wait::None),
    ("until-close", Way::UntilClose, Wait::None),
    ("truncated", Way::Truncated, Wait::None),
    ("reset", Way::Reset, Wait::None),
    ("all-500", Way::All500, Wait::None),
    ("never", Way::Never, Wait::None),
    ("chunked", Way::Chunked, Wait::None),
    ("no-header", Way::NoHeader, Wait::None),
    ("surplus", Way::Surplus, Wait::None),
    ("freeze", Way::Right, Wait::Freeze),
    ("uniform", Way::Right, Wait::Uniform),
    ("bimodal", Way::Right, Wait::Bimodal),
    ("log-normal", Way::Right, Wait::LogNormal),
    ("serial", Way::Right, Wait::Serial),
];

/// The books of all connections.
struct Books {
    way: Way,
    wait: Wait,
    seed: u64,
    began: Instant,
    began_ns: i64,
    connections: AtomicU64,
    requests: AtomicU64,
    right: AtomicU64,
    broken: AtomicU64,
    silent: AtomicU64,
    delays_ns: Mutex<Vec<u128>>,
    /// When each answer had been written, since the beginning.
    answered_ns: Mutex<Vec<u128>>,
    /// To the one who serves when only one is served at a time; who is served is told through what is sent.
    counter: Sender<Sender<()>>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let names: Vec<&str> = BEHAVIOURS.iter().map(|(name, ..)| *name).collect();
    let usage = || format!("usage: truth_server BEHAVIOUR [--seconds N] [--seed N]; behaviours: {}", names.join(" "));
    let name = arguments.first().ok_or_else(usage)?;
    let (_, way, wait) = *BEHAVIOURS.iter().find(|(known, ..)| known == name).ok_or_else(usage)?;
    let (seconds, seed) = (option(&arguments, "--seconds", 60)?, option(&arguments, "--seed", 1)?);
    thread::spawn(move || {
        thread::sleep(Duration::from_secs(seconds));
        std::process::exit(1);
    });
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    rustix::net::listen(&listener, 4096)?;
    println!("{}", listener.local_addr()?.port());
    io::stdout().flush()?;
    let (counter, queue) = channel();
    let books = Arc::new(Books::new(way, wait, seed, counter)?);
    let (shared, serving) = (Arc::clone(&books), Arc::clone(&books));
    thread::spawn(move || serving.serve_in_turn(&queue));
    thread::spawn(move || listener.incoming().flatten().for_each(|stream| Books::welcome(&shared, stream)));
    io::stdin().read_to_end(&mut Vec::new())?;
    thread::sleep(Duration::from_millis(50)); // whoever is in the middle of an answer books it
    println!("{}", books.as_json());
    Ok(())
}

fn option(arguments: &[String], name: &str, default: u64) -> Result<u64, std::num::ParseIntError> {
    let value = arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
    value.map_or(Ok(default), |text| text.parse())
}

impl Books {
    fn new(way: Way, wait: Wait, seed: u64, counter: Sender<Sender<()>>) -> nix::Result<Books> {
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
        let zero = || AtomicU64::new(0);
        Ok(Books {
            way,
            wait,
            seed,
            began: Instant::now(),
            began_ns: now.tv_sec() * 1_000_000_000 + now.tv_nsec(),
            connections: zero(),
            requests: zero(),
            right: zero(),
            broken: zero(),
            silent: zero(),
            delays_ns: Mutex::new(Vec::new()),
            answered_ns: Mutex::new(Vec::new()),
            counter,
        })
    }

    fn welcome(books: &Arc<Books>, stream: TcpStream) {
        books.connections.fetch_add(1, Relaxed);
        let books = Arc::clone(books);
        let served = thread::Builder::new().stack_size(128 * 1024).spawn(move || books.serve(stream));
        if let Err(error) = served {
            eprintln!("truth_server: no thread for another connection: {error}");
        }
    }

    /// One connection from its first request to its end. What the client does wrong ends it without a word.
    fn serve(&self, mut stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let mut kept = Vec::new();
        while let Some(head) = next_head(&mut stream, &mut kept) {
            let number = self.requests.fetch_add(1, Relaxed);
            let stays = match self.answer(&mut stream, number, asks_to_stay(&head)) {
                Ok(stays) => stays,
                Err(_) => return,
            };
            if !stays {
                return;
            }
        }
    }

    /// Waits, answers, and books it; whether the connection goes on.
    fn answer(&self, stream: &mut TcpStream, number: u64, stays: bool) -> io::Result<bool> {
        if self.way == Way::Never && number % 100 == 99 {
            self.silent.fetch_add(1, Relaxed);
            stream.read_to_end(&mut Vec::new())?;
            return Ok(false);
        }
        match self.wait {
            Wait::None => {}
            Wait::Serial | Wait::Freeze => self.queue_up(),
            _ => self.hold_back(self.delay(number)),
        }
        stream.write_all(&text(self.way, stays))?;
        whole(&self.answered_ns).push(self.began.elapsed().as_nanos());
        let broken = matches!(self.way, Way::Truncated | Way::Reset | Way::All500);
        if broken { &self.broken } else { &self.right }.fetch_add(1, Relaxed);
        match self.way {
            Way::Reset => sockopt::set_socket_linger(&*stream, Some(Duration::ZERO))?,
            Way::SilentClose | Way::AnnouncedClose | Way::UntilClose | Way::Truncated => leave(stream)?,
            _ => return Ok(stays),
        }
        Ok(false)
    }

    fn hold_back(&self, delay: Duration) {
        let begun = Instant::now();
        thread::sleep(delay);
        whole(&self.delays_ns).push(begun.elapsed().as_nanos());
    }

    /// Returns when it has been this request's turn; first come, first served.
    fn queue_up(&self) {
        let (done, served) = channel();
        if self.counter.send(done).is_ok() {
            let _ = served.recv();
        }
    }

    fn serve_in_turn(&self, queue: &Receiver<Sender<()>>) {
        for done in queue {
            self.hold_back(if self.wait == Wait::Freeze { self.thaw() } else { SERVICE });
            let _ = done.send(());
        }
    }

    fn delay(&self, number: u64) -> Duration {
        let (a, b) = (unit(self.seed, 2 * number), unit(self.seed, 2 * number + 1));
        let seconds = match self.wait {
            Wait::None | Wait::Serial | Wait::Freeze => 0.0,
            Wait::Uniform => 0.040 * a,
            Wait::Bimodal => {
                if a < 0.15 {
                    0.100
                } else {
                    0.005
                }
            }
            // Box and Muller: two uniform draws give one normal one.
            Wait::LogNormal => MEDIAN_S * ((-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()).exp(),
        };
        Duration::from_secs_f64(seconds)
    }

    /// How long it is until the server moves again.
    fn thaw(&self) -> Duration {
        let into = Duration::from_nanos((self.began.elapsed().as_nanos() % PERIOD.as_nanos()) as u64);
        if into < AWAKE { Duration::ZERO } else { PERIOD - into }
    }

    fn as_json(&self) -> String {
        let list = |times: &Mutex<Vec<u128>>| whole(times).iter().map(u128::to_string).collect::<Vec<_>>().join(",");
        format!(
            r#"{{"began_ns":{},"connections":{},"requests":{},"right":{},"broken":{},"silent":{},"delays_ns":[{}],"answered_ns":[{}]}}"#,
            self.began_ns,
            self.connections.load(Relaxed),
            self.requests.load(Relaxed),
            self.right.load(Relaxed),
            self.broken.load(Relaxed),
            self.silent.load(Relaxed),
            list(&self.delays_ns),
            list(&self.answered_ns)
        )
    }
}

/// A lock's content, also after a thread that held it broke off: numbers are never half written.
fn whole<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Between 0 (exclusive) and 1, by SplitMix64 of the seed and the number.
fn unit(seed: u64, number: u64) -> f64 {
    let mut z = seed.wrapping_add((number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// The next request's header block; requests have no bodies here. None at the end of the connection.
fn next_head(stream: &mut TcpStream, kept: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = memchr::memmem::find(kept, b"\r\n\r\n") {
            return Some(kept.drain(..end + 4).collect());
        }
        match stream.read(&mut buffer) {
            Ok(n) if n > 0 => kept.extend_from_slice(&buffer[..n]),
            _ => return None,
        }
    }
}

/// HTTP/1.1 stays unless told otherwise, HTTP/1.0 the other way round.
fn asks_to_stay(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    if head.lines().next().is_some_and(|line| line.ends_with("http/1.0")) {
        head.contains("connection: keep-alive")
    } else {
        !head.contains("connection: close")
    }
}

/// The bytes of one answer.
fn text(way: Way, stays: bool) -> Vec<u8> {
    let says = if stays && way != Way::AnnouncedClose { "Connection: keep-alive" } else { "Connection: close" };
    let length = BODY.len();
    let kind = "Content-Type: text/plain";
    match way {
        Way::UntilClose => format!("HTTP/1.0 200 OK\r\n{kind}\r\n\r\n{BODY}"),
        Way::Truncated | Way::Reset => {
            format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: 100\r\n{says}\r\n\r\n{}", &BODY[..12])
        }
        Way::All500 => {
            format!("HTTP/1.1 500 Internal Server Error\r\n{kind}\r\nContent-Length: {length}\r\n{says}\r\n\r\n{BODY}")
        }
        Way::Chunked => {
            let (first, rest) = BODY.split_at(5);
            let chunks = format!("5\r\n{first}\r\n{:x}\r\n{rest}\r\n0\r\n\r\n", rest.len());
            format!("HTTP/1.1 200 OK\r\n{kind}\r\nTransfer-Encoding: chunked\r\n{says}\r\n\r\n{chunks}")
        }
        Way::NoHeader => format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{BODY}"),
        Way::Surplus => format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {length}\r\n{says}\r\n\r\n{BODY}surplus"),
        _ => format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {length}\r\n{says}\r\n\r\n{BODY}"),
    }
    .into_bytes()
}

/// Ends the connection in order, also when the client has sent more meanwhile: a plain close would then reset it.
fn leave(stream: &mut TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let _ = stream.read_to_end(&mut Vec::new());
    Ok(())
}
