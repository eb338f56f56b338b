//! A scripted server of HTTP/2: it hears frames and says frames, right or wrong.

use crate::theatre::{Peer, Said, Server};
use crate::tunnel::Tunnel;
use serde_json::Value;
use webdyno_engine::wire::h2::write::{self, PREFACE};
use webdyno_engine::wire::h2::{FRAME_HEAD, flag, kind};

/// Ends a stream.
pub const END: u8 = flag::END_STREAM;

/// What carries the frames.
pub trait Voice {
    /// The next bytes, so many; `None`: the engine has closed.
    fn take(&mut self, bytes: usize) -> Option<Vec<u8>>;

    /// Writes; an engine that has gone is no error of the script.
    fn say(&mut self, bytes: &[u8]);
}

impl Voice for Peer {
    fn take(&mut self, bytes: usize) -> Option<Vec<u8>> {
        Peer::take(self, bytes)
    }

    fn say(&mut self, bytes: &[u8]) {
        Peer::say(self, bytes);
    }
}

impl Voice for Tunnel {
    fn take(&mut self, bytes: usize) -> Option<Vec<u8>> {
        Tunnel::take(self, bytes)
    }

    fn say(&mut self, bytes: &[u8]) {
        Tunnel::say(self, bytes);
    }
}

/// One connection, as the script sees it.
pub struct Stage<V = Peer> {
    pub peer: V,
    /// Streams that were reset by the engine, with the code.
    pub resets: Vec<(u32, u32)>,
}

impl<V: Voice> Stage<V> {
    /// Hears the preface, and says these settings.
    pub fn open(mut peer: V, settings: &[(u16, u32)]) -> Stage<V> {
        if let Some(preface) = peer.take(PREFACE.len()) {
            assert_eq!(PREFACE, preface);
        }
        let mut stage = Stage { peer, resets: Vec::new() };
        stage.say(|out| write::settings(out, settings));
        stage
    }

    /// Says what is written.
    pub fn say(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut out = Vec::new();
        write(&mut out);
        self.peer.say(&out);
    }

    /// The next frame: kind, flags, stream, content; `None`: the engine has closed.
    pub fn frame(&mut self) -> Option<(u8, u8, u32, Vec<u8>)> {
        let head = self.peer.take(FRAME_HEAD)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let content = self.peer.take(length as usize)?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        if head[3] == kind::RST_STREAM {
            self.resets.push((stream, u32::from_be_bytes(content[..].try_into().unwrap())));
        }
        Some((head[3], head[4], stream, content))
    }

    /// The stream of the next request that has come to its end, and its body.
    pub fn request(&mut self) -> Option<(u32, Vec<u8>)> {
        let mut body = Vec::new();
        loop {
            let (kind, flags, stream, content) = self.frame()?;
            if kind == kind::DATA {
                body.extend(content);
            }
            if matches!(kind, kind::HEADERS | kind::DATA) && flags & END != 0 {
                return Some((stream, body));
            }
        }
    }

    /// Requests until so many have come.
    pub fn requests(&mut self, count: usize) -> Vec<u32> {
        std::iter::from_fn(|| self.request()).map(|(stream, _)| stream).take(count).collect()
    }

    /// A 200 with this body.
    pub fn answer(&mut self, stream: u32, body: &str) {
        self.say(|out| {
            head(out, stream, 0);
            write::data(out, stream, body.as_bytes(), true);
        });
    }

    /// Answers every request alike until the engine closes.
    pub fn always(&mut self, body: &str) {
        while let Some((stream, _)) = self.request() {
            self.answer(stream, body);
        }
    }
}

/// HEADERS with `:status: 200` and nothing else.
pub fn head(out: &mut Vec<u8>, stream: u32, flags: u8) {
    frame(out, kind::HEADERS, flags | flag::END_HEADERS, stream, &[0x88]);
}

/// Any frame.
pub fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, content: &[u8]) {
    write::head(out, content.len(), kind, flags, stream);
    out.extend_from_slice(content);
}

/// GOAWAY: streams above `last` were not worked on.
pub fn goaway(out: &mut Vec<u8>, last: u32) {
    frame(out, kind::GOAWAY, 0, 0, &[last.to_be_bytes(), [0; 4]].concat());
}

/// Runs the order of the theatre over HTTP/2, with so many streams on its one connection.
pub fn load(server: &Server, streams: u64, edit: impl FnOnce(&mut Value)) -> Said {
    server.load(|o| {
        (o["schema"], o["http"], o["streams"]) = (3.into(), "2".into(), streams.into());
        edit(o);
    })
}
