//! What a TLS connection is begun with: whom to trust, what to ask for, what to remember.

use crate::error::Fault;
use crate::order::{Order, TlsOrder};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::sync::Arc;

/// What all TLS connections of an order have in common.
#[derive(Clone, Debug)]
pub struct Tls {
    config: ClientConfig,
    resume: bool,
    /// What the server is asked for, and must have a certificate for.
    pub name: ServerName<'static>,
}

impl Tls {
    /// What `order` asks for; `alpn` are the protocols to offer (RFC 7301). `None`: it speaks plain.
    ///
    /// Faults: certificates that cannot be read, a name that is none, a machine without certificates of its own.
    pub fn new(order: &Order, alpn: &[&[u8]]) -> Result<Option<Tls>, Fault> {
        let Some(tls) = &order.tls else { return Ok(None) };
        let name = tls.server_name.as_ref().unwrap_or(&order.target.host);
        let key = if tls.server_name.is_some() { "tls.server_name" } else { "target.host" };
        let name = ServerName::try_from(name.clone()).map_err(|_| {
            Fault::order(key, format!("{key} must be a name or an address that a certificate can be for, not {name:?}"))
        })?;
        let provider = Arc::new(ring::default_provider());
        let verifier = verifier(tls, &provider)?;
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| Fault::machine("tls", format!("tls is not to be had from this build of the engine: {e}")))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        config.resumption = Resumption::disabled();
        Ok(Some(Tls { config, resume: tls.resume, name }))
    }

    /// The configuration of one thread. Each remembers its own sessions, so that threads wait for nothing of each other's.
    pub fn config(&self) -> Arc<ClientConfig> {
        let mut config = self.config.clone();
        if self.resume {
            config.resumption = Resumption::in_memory_sessions(SESSIONS);
        }
        Arc::new(config)
    }
}

/// Sessions kept for one server, of which there is one. rustls keeps no more than eight tickets of it.
const SESSIONS: usize = 8;

fn verifier(tls: &TlsOrder, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, Fault> {
    if !tls.verify {
        return Ok(Arc::new(Anyone(provider.signature_verification_algorithms.supported_schemes())));
    }
    let key = "tls.roots_pem";
    let mut roots = RootCertStore::empty();
    match &tls.roots {
        Some(certificates) => {
            for (i, certificate) in certificates.iter().enumerate() {
                roots.add(certificate.clone()).map_err(|e| {
                    Fault::order(key, format!("{key} has a certificate, number {}, that cannot be read: {e}", i + 1))
                })?;
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            if roots.add_parsable_certificates(found.certs).0 == 0 {
                let why = found.errors.first().map(|e| format!(" ({e})")).unwrap_or_default();
                return Err(Fault::machine(
                    key,
                    format!(
                        "{key} is null but this machine has no certificates to trust{why}; give them, install ca-certificates, \
                         or set tls.verify to false"
                    ),
                ));
            }
        }
    }
    match WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build() {
        Ok(verifier) => Ok(verifier),
        Err(e) => Err(Fault::order(key, format!("{key} cannot be used: {e}"))),
    }
}

/// Takes any certificate: for servers under test, which sign their own.
#[derive(Debug)]
struct Anyone(Vec<SignatureScheme>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.clone()
    }
}
