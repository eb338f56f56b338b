//! One TLS connection, without its socket: bytes of one side in, bytes of the other out.
//!
//! rustls' unbuffered interface is used because it keeps no buffer for a connection: all connections of a worker share theirs, and
//! an idle one holds nothing but its keys. The interface is a small machine: it is asked again until it wants bytes.

use rustix::io::Errno;
use rustls::client::UnbufferedClientConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncodeTlsData, InsufficientSizeError, UnbufferedStatus};
use rustls::{ClientConfig, Error, HandshakeKind, pki_types::ServerName};
use std::sync::Arc;

/// The most that a record can be longer than what it carries: head, nonce, content type, tag (RFC 8446, 5.2 and RFC 5246, 6.2.3).
const OVERHEAD: usize = 64;
/// What a record carries at most (RFC 8446, 5.1).
const RECORD: usize = 16 * 1024;

/// The bytes of one turn, shared by all connections of a worker.
#[derive(Debug, Default)]
pub struct Desk {
    /// Received, encrypted; decrypted in place.
    pub incoming: Vec<u8>,
    /// What it said.
    pub plain: Vec<u8>,
    /// To be sent, encrypted.
    pub outgoing: Vec<u8>,
}

/// What received bytes came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn {
    /// The connection goes on.
    Open,
    /// The server has said that nothing follows (RFC 8446, 6.1).
    Closed,
}

/// One TLS connection.
pub struct Session {
    tls: UnbufferedClientConnection,
    /// Received, and not a whole record yet. Handshake messages in several records are put together in it.
    partial: Vec<u8>,
    /// Encrypted, and not taken by the socket yet.
    pub backlog: Vec<u8>,
    /// When the connection under it came about.
    pub began: u64,
    /// The handshake is done.
    pub established: bool,
    /// Its owner waits for room.
    pub owed: bool,
    /// Nothing more comes, or matters.
    pub over: bool,
    /// It must not be asked anything any more.
    broken: bool,
}

impl Session {
    /// A session that has not said anything yet. Errors are those of a configuration that cannot work.
    pub fn new(config: &Arc<ClientConfig>, name: &ServerName<'static>, began: u64) -> Result<Session, Error> {
        let tls = UnbufferedClientConnection::new(Arc::clone(config), name.clone())?;
        let (partial, backlog) = (Vec::new(), Vec::new());
        Ok(Session { tls, partial, backlog, began, established: false, owed: false, over: false, broken: false })
    }

    /// Takes `received` in. What it says, and what must be answered, is on the desk afterwards, also after an error.
    pub fn take(&mut self, received: &[u8], desk: &mut Desk) -> Result<Turn, Error> {
        desk.incoming.clear();
        desk.incoming.extend_from_slice(&self.partial);
        desk.incoming.extend_from_slice(received);
        desk.plain.clear();
        desk.outgoing.clear();
        let (used, turn) = self.pump(desk);
        // Not kept at its size: most connections are idle, or end with a whole record.
        self.partial = desk.incoming[used..].to_vec();
        turn
    }

    /// Turns the machine until it wants bytes. How many of those received it has used up, and what they came to.
    fn pump(&mut self, desk: &mut Desk) -> (usize, Result<Turn, Error>) {
        let mut used = 0;
        loop {
            let UnbufferedStatus { discard, state } = self.tls.process_tls_records(&mut desk.incoming[used..]);
            let mut turn = None;
            match state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(record) = traffic.next_record() {
                        match record {
                            Ok(record) => desk.plain.extend_from_slice(record.payload),
                            Err(error) => turn = Some(Err(error)),
                        }
                    }
                }
                Ok(ConnectionState::EncodeTlsData(data)) => encode(data, &mut desk.outgoing),
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                Ok(ConnectionState::PeerClosed | ConnectionState::Closed) => turn = Some(Ok(Turn::Closed)),
                Ok(_) => turn = Some(Ok(Turn::Open)),
                Err(error) => turn = Some(Err(error)),
            }
            used += discard;
            match turn {
                Some(Err(error)) => {
                    self.broken = true;
                    self.last_words(desk);
                    return (used, Err(error));
                }
                Some(turn) => return (used, turn),
                None => {}
            }
        }
    }

    /// After an error: the alert that tells the server why. It is asked for no further, for it would read the same bytes again.
    fn last_words(&mut self, desk: &mut Desk) {
        while self.tls.wants_write() {
            let Ok(ConnectionState::EncodeTlsData(data)) = self.tls.process_tls_records(&mut []).state else { return };
            encode(data, &mut desk.outgoing);
        }
    }

    /// Encrypts `bytes` onto `outgoing`.
    pub fn seal(&mut self, bytes: &[u8], outgoing: &mut Vec<u8>) -> Result<(), Errno> {
        let length = bytes.len() + (bytes.len() / RECORD + 1) * OVERHEAD;
        self.write(length, outgoing, |traffic, room| traffic.encrypt(bytes, room).ok())
    }

    /// Puts the announcement that nothing follows onto `outgoing` (RFC 8446, 6.1).
    pub fn farewell(&mut self, outgoing: &mut Vec<u8>) -> Result<(), Errno> {
        self.write(OVERHEAD, outgoing, |traffic, room| traffic.queue_close_notify(room).ok())
    }

    fn write(
        &mut self,
        length: usize,
        outgoing: &mut Vec<u8>,
        fill: impl FnOnce(&mut Traffic<'_>, &mut [u8]) -> Option<usize>,
    ) -> Result<(), Errno> {
        if self.broken {
            return Err(Errno::CONNRESET);
        }
        loop {
            // What it has begun to put together must be before its eyes.
            let UnbufferedStatus { discard, state } = self.tls.process_tls_records(&mut self.partial);
            match state {
                Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                    let at = outgoing.len();
                    outgoing.resize(at + length, 0);
                    let written = fill(&mut traffic, &mut outgoing[at..]);
                    outgoing.truncate(at + written.unwrap_or_default());
                    return written.map(|_| ()).ok_or(Errno::CONNRESET);
                }
                Ok(ConnectionState::EncodeTlsData(data)) => encode(data, outgoing),
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                // Closed, or broken: that has been told already, and is only seen again here.
                _ => return Err(Errno::CONNRESET),
            }
            self.partial.drain(..discard);
        }
    }

    /// Whether the handshake has just been done, told once.
    pub fn establish(&mut self) -> bool {
        let done = !self.established && !self.tls.is_handshaking();
        self.established |= done;
        done
    }

    /// Whether the handshake took up an earlier session.
    pub fn resumed(&self) -> bool {
        self.tls.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// The protocol that both sides chose (RFC 7301).
    pub fn protocol(&self) -> Option<&[u8]> {
        self.tls.alpn_protocol()
    }
}

type Traffic<'c> = rustls::unbuffered::WriteTraffic<'c, rustls::client::ClientConnectionData>;

fn encode<Data>(mut data: EncodeTlsData<'_, Data>, outgoing: &mut Vec<u8>) {
    if let Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) = data.encode(&mut []) {
        let at = outgoing.len();
        outgoing.resize(at + required_size, 0);
        data.encode(&mut outgoing[at..]).expect("the size that was asked for");
    }
}
