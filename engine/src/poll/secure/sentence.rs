//! Why TLS did not come about, in words that say what to do.

use rustix::io::Errno;
use rustls::pki_types::ServerName;
use rustls::{CertificateError, Error};

/// The server went away in the handshake.
pub const ENDED: &str = "the server closed the connection during the handshake; does it speak TLS on this port?";

/// What a failure of TLS with the server `name` means.
pub fn of(error: &Error, name: &ServerName<'_>) -> String {
    let name = name.to_str();
    let certificate = format!("the certificate of {name}");
    match error {
        Error::InvalidCertificate(why) => match why {
            CertificateError::UnknownIssuer => format!(
                "{certificate} is not trusted (UnknownIssuer); give its root with --cacert (tls.roots_pem) or use --insecure \
                 (tls.verify false)"
            ),
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!(
                    "{certificate} is for another name (NotValidForName); say in tls.server_name which one it is for"
                )
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                format!("{certificate} has expired; renew it or use --insecure (tls.verify false)")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                format!("{certificate} is not valid yet; look at the clock of this machine and the certificate's")
            }
            other => format!("{certificate} cannot be trusted: {other}"),
        },
        Error::AlertReceived(alert) => format!("the server refused with the alert {alert:?}"),
        Error::NoApplicationProtocol => "the server speaks none of the protocols that were offered (ALPN)".to_string(),
        Error::InvalidMessage(why) => {
            format!("the server's bytes are not TLS ({why:?}); does it speak TLS on this port?")
        }
        other => other.to_string(),
    }
}

/// The server did not choose any of the protocols that were offered.
pub fn no_protocol(offered: &[Vec<u8>]) -> String {
    let names: Vec<_> = offered.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    format!("the server did not choose {} (ALPN)", names.join(" or "))
}

/// The connection broke in the handshake.
pub fn broken(errno: Errno) -> String {
    format!("the connection broke during the handshake: {errno}")
}
