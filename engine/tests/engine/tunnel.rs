//! The TLS side of the scripted server: certificates, and a connection that a script speaks over.

use crate::theatre::{Peer, Said, Server};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// Both versions.
pub const VERSIONS: &[&SupportedProtocolVersion] = &[&rustls::version::TLS12, &rustls::version::TLS13];

/// Who signs certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate, to be trusted.
    pub pem: String,
}

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        // Two of the same name would be told apart by their signatures only.
        params.distinguished_name.push(DnType::CommonName, format!("{:?}", key.public_key_raw()));
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate for this machine, edited, with its key.
    pub fn sign(&self, edit: impl FnOnce(&mut CertificateParams)) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
        let names = vec!["127.0.0.1".to_string(), "localhost".to_string()];
        let mut params = CertificateParams::new(names).unwrap();
        edit(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.der().clone(), PrivatePkcs8KeyDer::from(key.serialize_der()).into())
    }

    /// A server's configuration with a good certificate.
    pub fn config(&self, versions: &[&'static SupportedProtocolVersion]) -> ServerConfig {
        self.config_with(self.sign(|_| {}), versions)
    }

    pub fn config_with(
        &self,
        (certificate, key): (CertificateDer<'static>, PrivateKeyDer<'static>),
        versions: &[&'static SupportedProtocolVersion],
    ) -> ServerConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
        builder.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap()
    }

    /// An authority, and a server with a good certificate that plays `script`.
    pub fn with_server(script: impl Fn(Tunnel) + Send + Sync + 'static) -> (Authority, Server) {
        let authority = Authority::new();
        let server = serve(authority.config(VERSIONS), script);
        (authority, server)
    }

    /// Runs the engine with its order for `server`, in TLS that trusts this authority, edited.
    pub fn load(&self, server: &Server, edit: impl FnOnce(&mut Value)) -> Said {
        server.load(|order| {
            order["schema"] = 3.into();
            order["tls"] = json!({"roots_pem": self.pem});
            edit(order);
        })
    }
}

/// A date long ago, for certificates that have expired.
pub fn expire(params: &mut CertificateParams) {
    (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(2001, 1, 1));
}

/// A server that plays `script` on every connection whose handshake it can complete.
pub fn serve(config: ServerConfig, script: impl Fn(Tunnel) + Send + Sync + 'static) -> Server {
    let config = Arc::new(config);
    Server::start(move |peer| {
        if let Some(tunnel) = Tunnel::accept(peer, &config) {
            script(tunnel);
        }
    })
}

/// One TLS connection, as the script sees it.
pub struct Tunnel {
    stream: BufReader<StreamOwned<ServerConnection, TcpStream>>,
}

impl Tunnel {
    fn accept(peer: Peer, config: &Arc<ServerConfig>) -> Option<Tunnel> {
        let mut stream = peer.into_stream();
        let mut tls = ServerConnection::new(config.clone()).unwrap();
        while tls.is_handshaking() {
            tls.complete_io(&mut stream).ok()?;
        }
        Some(Tunnel { stream: BufReader::new(StreamOwned::new(tls, stream)) })
    }

    /// The next request's header block and body; `None`: the engine has closed.
    pub fn request(&mut self) -> Option<(String, Vec<u8>)> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let length = head.lines().find_map(|l| l.strip_prefix("Content-Length: ")).map_or(0, |n| n.parse().unwrap());
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        Some((head, body))
    }

    /// The next bytes, so many; `None`: the engine has closed.
    pub fn take(&mut self, bytes: usize) -> Option<Vec<u8>> {
        let mut taken = vec![0; bytes];
        self.stream.read_exact(&mut taken).ok()?;
        Some(taken)
    }

    /// Writes, in records as rustls makes them.
    pub fn say(&mut self, text: impl AsRef<[u8]>) {
        let _ = self.stream.get_mut().write_all(text.as_ref());
        let _ = self.stream.get_mut().flush();
    }

    /// Answers every request alike until the engine closes.
    pub fn always(&mut self, text: &str) {
        while self.request().is_some() {
            self.say(text);
        }
    }

    /// Says that nothing follows (RFC 8446, 6.1).
    pub fn farewell(&mut self) {
        self.stream.get_mut().conn.send_close_notify();
        let _ = self.stream.get_mut().flush();
    }

    /// New keys for what is said from here on (RFC 8446, 4.6.3).
    pub fn refresh_keys(&mut self) {
        self.stream.get_mut().conn.refresh_traffic_keys().unwrap();
    }

    /// Whether this is TLS 1.3.
    pub fn is_newest(&self) -> bool {
        self.stream.get_ref().conn.protocol_version() == Some(rustls::ProtocolVersion::TLSv1_3)
    }

    /// What was chosen by ALPN.
    pub fn protocol(&mut self) -> Option<String> {
        self.stream.get_ref().conn.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned())
    }

    /// Whether the engine said that nothing follows before it closed.
    pub fn heard_farewell(&mut self) -> bool {
        match self.stream.read(&mut [0; 1]) {
            Ok(n) => n == 0,
            Err(error) => {
                assert_eq!(ErrorKind::UnexpectedEof, error.kind());
                false
            }
        }
    }
}
