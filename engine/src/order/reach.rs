//! How the server is reached: address or socket, the local addresses that connections leave from, how they end, TLS.

use super::fields::Fields;
use crate::error::Fault;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::net::IpAddr;

/// Where the server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Address literal without brackets, or a name.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Path of a Unix socket; host and port then only make the `Host` header.
    pub unix: Option<String>,
}

/// How connections are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linger {
    /// As usual; the side that closes first keeps its port for a minute.
    Fin,
    /// With a reset, which keeps nothing.
    Reset,
}

/// TLS, as ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsOrder {
    /// The certificate is checked.
    pub verify: bool,
    /// Whom to trust; `None`: whom this machine trusts.
    pub roots: Option<Vec<CertificateDer<'static>>>,
    /// What SNI and the check use; `None`: the host.
    pub server_name: Option<String>,
    /// Handshakes take up earlier sessions.
    pub resume: bool,
}

/// The target of an order of this schema.
pub(super) fn target(order: &Fields<'_>, schema: u64) -> Result<Target, Fault> {
    let known: &[&str] = if schema < 3 { &["host", "port"] } else { &["host", "port", "unix"] };
    let fields = order.required("target", "an object with host and port")?.object(known)?;
    let field = fields.required("host", "a text")?;
    let host = field.text()?;
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    if bare.is_empty() || bare.contains(|c: char| c.is_whitespace() || c.is_control() || "/?#@[]".contains(c)) {
        return Err(field.wrong("an address or a name, without scheme, port or path"));
    }
    let port = fields.integer("port", 1, 65_535)? as u16;
    let unix = fields.optional("unix").map(|field| match field.text() {
        // sockaddr_un(7): 108 bytes with the NUL at the end.
        Ok(path) if (1..108).contains(&path.len()) && !path.contains('\0') => Ok(path.to_string()),
        _ => Err(field.wrong("the path of a Unix socket, of at most 107 bytes")),
    });
    Ok(Target { host: bare.to_string(), port, unix: unix.transpose()? })
}

/// The local addresses, none when left out.
pub(super) fn sources(order: &Fields<'_>, target: &Target) -> Result<Vec<IpAddr>, Fault> {
    let right = "a list of addresses of this machine, such as [\"127.0.0.2\", \"127.0.0.3\"]";
    let Some(field) = order.optional("sources") else { return Ok(Vec::new()) };
    let items = field.list(right)?;
    if target.unix.is_some() && !items.is_empty() {
        return Err(field.wrong("left out with target.unix, which has no addresses"));
    }
    let source = |item: &super::Field<'_>| {
        let parsed = item.text()?.trim_matches(['[', ']']).parse();
        parsed.map_err(|_| item.wrong("an address literal of this machine, such as \"127.0.0.2\""))
    };
    items.iter().map(source).collect()
}

/// How connections are closed.
pub(super) fn linger(order: &Fields<'_>, target: &Target) -> Result<Linger, Fault> {
    let Some(field) = order.optional("linger") else { return Ok(Linger::Fin) };
    match field.text() {
        Ok("fin") => Ok(Linger::Fin),
        Ok("reset") if target.unix.is_some() => Err(field.wrong("\"fin\" with target.unix, which keeps no port")),
        Ok("reset") => Ok(Linger::Reset),
        _ => Err(field.wrong("\"fin\" or \"reset\"")),
    }
}

/// TLS, where it is ordered.
pub(super) fn tls(order: &Fields<'_>) -> Result<Option<TlsOrder>, Fault> {
    let Some(field) = order.optional("tls") else { return Ok(None) };
    let fields = field.object(&["verify", "roots_pem", "server_name", "resume"])?;
    let flag = |key| if fields.optional(key).is_some() { fields.flag(key) } else { Ok(true) };
    let roots = fields.optional("roots_pem").map(|field| {
        let right = "the text of one or more certificates, each between BEGIN CERTIFICATE and END CERTIFICATE";
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(field.text()?.as_bytes()).collect();
        read.ok().filter(|roots| !roots.is_empty()).ok_or_else(|| field.wrong(right))
    });
    let server_name = fields.optional("server_name").map(|field| field.text().map(str::to_string));
    Ok(Some(TlsOrder {
        verify: flag("verify")?,
        roots: roots.transpose()?,
        server_name: server_name.transpose()?,
        resume: flag("resume")?,
    }))
}
