//! Sentences about requests that did not end well. Only the first of a run is ever written, so only it is composed.

use crate::connection::Answer;
use crate::expect::Broken;
use crate::order::Request;
use crate::slice::Outcome;
use crate::worker::Job;
use rustix::io::Errno;

/// A complete answer that breaks a rule.
pub fn wrong(request: &Request, answer: &Answer, broken: &Broken, odd_type: Option<&str>) -> String {
    let (expect, asked) = (&request.expect, asked(request));
    let status = answer.status;
    match broken {
        Broken::Status => {
            format!("wrong-status: {asked} answered {status}, expected {}", listed(&expect.statuses))
        }
        Broken::ContentType => format!(
            "wrong-body: {asked} answered {status} with the media type {:?}, expected {}",
            odd_type.unwrap_or_default(),
            expect.content_type.as_deref().unwrap_or_default()
        ),
        Broken::Length(length) => format!(
            "wrong-body: {asked} answered {status} with {length} bytes, expected {} bytes",
            expect.body_length.unwrap_or_default()
        ),
        Broken::Digest(digest) => format!(
            "wrong-body: {asked} answered {status} with {} bytes of SHA-256 {}, expected {}",
            answer.length,
            hex(digest.as_slice()),
            hex(&expect.body_sha256.unwrap_or_default())
        ),
        Broken::Contains => format!(
            "wrong-body: {asked} answered {status} with {} bytes that do not contain {:?}",
            answer.length,
            String::from_utf8_lossy(expect.body_contains.as_deref().unwrap_or_default())
        ),
    }
}

/// `200 or 204`; three and more in a row as `200 to 399`.
fn listed(statuses: &[u16]) -> String {
    let mut sorted = statuses.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let runs = sorted.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [first, _, .., last] => format!("{first} to {last}"),
        few => few.iter().map(u16::to_string).collect::<Vec<_>>().join(" or "),
    });
    runs.collect::<Vec<_>>().join(" or ")
}

/// What to say of a connect that timed out when the server had taken the connection.
pub const SHAKING: &str = ": the server took it, and did not complete the TLS handshake";

/// What to say of a request that was behind another one on a connection that was closed, and may not be sent twice.
pub const BEHIND: &str = "was behind a request whose connection was closed";

/// A request without a complete answer.
pub fn lost(request: &Request, job: &Job<'_>, outcome: Outcome, why: &str) -> String {
    let (name, asked, to) = (outcome.name(), asked(request), &job.endpoint);
    let once = if request.is_idempotent() { String::new() } else { not_twice(request) };
    match outcome {
        Outcome::Timeout => format!("{name}: {asked} had no complete answer after {}", seconds(job.timeout_ns)),
        Outcome::ConnectRefused => format!("{name}: {to} did not take the connection"),
        Outcome::ConnectTimeout => {
            format!("{name}: no connection to {to} after {}{why}", seconds(job.connect_timeout_ns))
        }
        Outcome::Tls => format!("{name}: {why}"),
        Outcome::Reset if !why.is_empty() => format!("{name}: the server gave up the answer to {asked}: {why}"),
        Outcome::Reset => {
            format!("{name}: the server reset the connection before the answer to {asked} was complete{once}")
        }
        Outcome::Truncated if !why.is_empty() => format!("{name}: {asked} {why}{once}"),
        Outcome::Truncated => {
            format!("{name}: the server closed the connection before the answer to {asked} was complete{once}")
        }
        Outcome::Malformed => format!("{name}: the answer to {asked} cannot be read: {why}"),
        _ => format!("{name}: {asked}"),
    }
}

/// A request that was due and never sent.
pub fn shed(job: &Job<'_>) -> String {
    let (name, waited) = (Outcome::Shed.name(), seconds(job.timeout_ns));
    format!("{name}: all connections were busy for the {waited} that a request waited since it was due")
}

/// This machine has had nothing to connect with for a whole connect timeout.
pub fn starved(errno: Errno) -> String {
    match errno {
        Errno::ADDRNOTAVAIL => {
            "this machine has no local port left for another connection; give `sources` more local addresses (each has ports of \
                                its own), ask for fewer connections or keep them alive, or widen the range with: sysctl -w net.ipv4.ip_local_port_range='1024 65535'"
                .to_string()
        }
        Errno::MFILE => "this process may not open another file; raise the limit with: ulimit -n".to_string(),
        Errno::NOSPC => "this user may not watch another connection; raise the limit with: sysctl -w fs.epoll.max_user_watches=1000000".to_string(),
        other => format!("this machine cannot open another connection: {other}"),
    }
}

fn asked(request: &Request) -> String {
    format!("{} {}", request.method, request.path)
}

/// RFC 9110, 9.2.2.
fn not_twice(request: &Request) -> String {
    format!(", and a {} is not sent twice", request.method)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn seconds(ns: u64) -> String {
    format!("{} s", ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_told_in_a_few_words_however_many_they_are() {
        assert_eq!("200", listed(&[200]));
        assert_eq!("200 or 201", listed(&[201, 200, 200]));
        assert_eq!("200 to 399", listed(&(200..400).rev().collect::<Vec<_>>()));
        assert_eq!("200 to 299 or 304 or 307 or 308", listed(&(200..300).chain([304, 308, 307]).collect::<Vec<_>>()));
    }
}
