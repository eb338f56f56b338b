//! TLS 1.2 and 1.3 over any back end.
//!
//! [`Secure`] is a [`Poll`] over another: the worker above it sends and receives plain bytes, and a connection has come about when its
//! handshake is done. All records of one receive become one [`What::Bytes`]. Where the socket takes less than a record, the rest
//! waits here, and the worker's next send for it.

mod sentence;
mod session;
mod trust;

pub use trust::Tls;

use super::{Endpoint, Handshake, Poll, What};
use crate::clock;
use rustix::io::Errno;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use session::{Desk, Session, Turn};
use std::collections::VecDeque;
use std::sync::Arc;

/// How much of a long request is encrypted before the socket is asked whether it takes it.
const CHUNK: usize = 64 * 1024;

/// TLS over the back end `P`.
pub struct Secure<P> {
    below: P,
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    sessions: Vec<Option<Box<Session>>>,
    desk: Desk,
    /// What has happened and not been told: all of one place.
    due: VecDeque<(usize, What)>,
    why: String,
}

impl<P: Poll> Secure<P> {
    /// TLS for the so many places of `below`.
    pub fn new(below: P, tls: &Tls, places: usize) -> Secure<P> {
        Secure {
            below,
            config: tls.config(),
            name: tls.name.clone(),
            sessions: std::iter::repeat_with(|| None).take(places).collect(),
            desk: Desk::default(),
            due: VecDeque::new(),
            why: String::new(),
        }
    }

    /// The connection under it has come about: the handshake begins.
    fn begin(&mut self, place: usize) {
        match Session::new(&self.config, &self.name, clock::now()) {
            Ok(session) => {
                self.sessions[place] = Some(Box::new(session));
                self.turn(place, false, |session, desk, _| session.take(&[], desk));
            }
            Err(error) => self.break_off(place, sentence::of(&error, &self.name)),
        }
    }

    /// Has the session of `place` take something in, and sees to what came of it.
    fn turn(
        &mut self,
        place: usize,
        ending: bool,
        take: impl FnOnce(&mut Session, &mut Desk, &P) -> Result<Turn, rustls::Error>,
    ) {
        let Some(session) = self.sessions[place].as_mut().filter(|session| !session.over) else { return };
        let turn = take(session, &mut self.desk, &self.below);
        let sent = push(&mut self.below, place, session, &self.desk.outgoing);
        let established = turn.is_ok() && session.establish();
        let closed = turn == Ok(Turn::Closed);
        session.over = closed || turn.is_err();
        if established && !self.chosen(place) {
            return self.break_off(place, sentence::no_protocol(&self.config.alpn_protocols));
        }
        if established {
            self.due.push_back((place, What::Connected));
        }
        if !self.desk.plain.is_empty() {
            self.due.push_back((place, What::Bytes { ending: ending || turn != Ok(Turn::Open) }));
        }
        match (turn, sent) {
            (Err(error), _) => self.break_off(place, sentence::of(&error, &self.name)),
            (Ok(Turn::Closed), _) if !self.established(place) => self.break_off(place, sentence::ENDED.to_string()),
            (Ok(Turn::Closed), _) => self.due.push_back((place, What::End)),
            (Ok(Turn::Open), Err(errno)) => self.broke(place, errno),
            (Ok(Turn::Open), Ok(())) => {}
        }
    }

    /// Whether the server speaks what it was offered. One that does not know ALPN is taken to speak HTTP/1.1, where that was offered.
    fn chosen(&self, place: usize) -> bool {
        let offered = &self.config.alpn_protocols;
        let chosen = self.sessions[place].as_ref().and_then(|session| session.protocol());
        chosen.is_some() || offered.is_empty() || offered.iter().any(|name| name == b"http/1.1")
    }

    fn established(&self, place: usize) -> bool {
        self.sessions[place].as_ref().is_some_and(|session| session.established)
    }

    fn break_off(&mut self, place: usize, why: String) {
        self.why = why;
        self.due.push_back((place, What::Tls));
    }

    /// There is room below.
    fn drain(&mut self, place: usize) {
        let Some(session) = &mut self.sessions[place] else { return };
        let waiting = std::mem::take(&mut session.backlog);
        if let Err(errno) = push(&mut self.below, place, session, &waiting) {
            return self.broke(place, errno);
        }
        if session.backlog.is_empty() && std::mem::take(&mut session.owed) {
            self.due.push_back((place, What::Writable));
        }
    }

    /// The connection under it has ended, without a word of TLS.
    fn cut(&mut self, place: usize) {
        match &self.sessions[place] {
            Some(session) if session.over => {}
            Some(session) if session.established => self.due.push_back((place, What::Cut)),
            _ => self.break_off(place, sentence::ENDED.to_string()),
        }
    }

    /// The connection under it has failed.
    fn broke(&mut self, place: usize, errno: Errno) {
        match &self.sessions[place] {
            Some(session) if session.over => {}
            Some(session) if !session.established => self.break_off(place, sentence::broken(errno)),
            _ => self.due.push_back((place, What::Failed(errno))),
        }
    }
}

/// Sends what is encrypted; what finds no room waits, and [`What::Writable`] of the back end follows.
fn push<P: Poll>(below: &mut P, place: usize, session: &mut Session, bytes: &[u8]) -> Result<(), Errno> {
    if bytes.is_empty() {
        return Ok(());
    }
    let sent = if session.backlog.is_empty() { below.send(place, bytes)? } else { 0 };
    session.backlog.extend_from_slice(&bytes[sent..]);
    Ok(())
}

impl<P: Poll> Poll for Secure<P> {
    fn open(&mut self, place: usize, endpoint: &Endpoint) -> Result<(), Errno> {
        self.close(place);
        self.below.open(place, endpoint)
    }

    fn send(&mut self, place: usize, bytes: &[u8]) -> Result<usize, Errno> {
        let Some(session) = &mut self.sessions[place] else { return Err(Errno::NOTCONN) };
        let mut taken = 0;
        while taken < bytes.len() && session.backlog.is_empty() {
            let part = &bytes[taken..bytes.len().min(taken + CHUNK)];
            self.desk.outgoing.clear();
            session.seal(part, &mut self.desk.outgoing)?;
            push(&mut self.below, place, session, &self.desk.outgoing)?;
            taken += part.len();
        }
        session.owed = taken < bytes.len();
        Ok(taken)
    }

    fn close(&mut self, place: usize) {
        if let Some(mut session) = self.sessions[place].take() {
            self.desk.outgoing.clear();
            let whole = session.established && session.backlog.is_empty();
            if whole && session.farewell(&mut self.desk.outgoing).is_ok() {
                // A server that has gone does not miss it.
                let _ = self.below.send(place, &self.desk.outgoing);
            }
            self.due.retain(|(at, _)| *at != place);
        }
        self.below.close(place);
    }

    fn wait(&mut self, at_most_ns: u64) -> Result<(), Errno> {
        self.below.wait(at_most_ns)
    }

    fn backlog(&self) -> usize {
        self.below.backlog()
    }

    fn next(&mut self) -> Option<(usize, What)> {
        loop {
            if let Some(event) = self.due.pop_front() {
                return Some(event);
            }
            let (place, what) = self.below.next()?;
            match what {
                What::Connected => self.begin(place),
                What::Writable => self.drain(place),
                What::Bytes { ending } => {
                    self.turn(place, ending, |session, desk, below| session.take(below.bytes(), desk));
                }
                What::End | What::Cut => self.cut(place),
                What::Failed(errno) => self.broke(place, errno),
                // A back end tells nothing else.
                _ => return Some((place, what)),
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.desk.plain
    }

    fn handshake(&self, place: usize) -> Option<Handshake> {
        let session = self.sessions[place].as_ref()?;
        Some(Handshake { began: session.began, resumed: session.resumed() })
    }

    fn why(&self) -> &str {
        &self.why
    }
}
