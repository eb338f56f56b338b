//! What is counted beside requests: bytes, connections, handshakes.

/// Counts of events that are not outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Connections that came about.
    pub connections_opened: u64,
    /// Connections closed by us because an answer, or we, had said so.
    pub closes_announced: u64,
    /// Connections the server ended between answers without a word.
    pub closes_silent: u64,
    /// Requests sent once more because the connection had been closed before they arrived.
    pub stale_retries: u64,
    /// Complete answers that speak HTTP/1.0.
    pub http10_answers: u64,
    /// Requests that the engine itself began more than [`LATE_NS`](super::LATE_NS) after they were due.
    pub sends_late: u64,
    /// Requests without a complete answer that are in the response times at their age.
    pub censored: u64,
    /// TLS handshakes that began a session.
    pub handshakes_full: u64,
    /// TLS handshakes that took up an earlier session.
    pub handshakes_resumed: u64,
    /// Connections opened again between two turns.
    pub reopened: u64,
}

impl Counts {
    /// Adds `other` to these.
    pub fn merge(&mut self, other: &Counts) {
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.connections_opened += other.connections_opened;
        self.closes_announced += other.closes_announced;
        self.closes_silent += other.closes_silent;
        self.stale_retries += other.stale_retries;
        self.http10_answers += other.http10_answers;
        self.sends_late += other.sends_late;
        self.censored += other.censored;
        self.handshakes_full += other.handshakes_full;
        self.handshakes_resumed += other.handshakes_resumed;
        self.reopened += other.reopened;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_has_all_of_both() {
        let counts = |times: u64| Counts {
            bytes_in: times,
            bytes_out: 2 * times,
            connections_opened: 3 * times,
            closes_announced: 4 * times,
            closes_silent: 5 * times,
            stale_retries: 6 * times,
            http10_answers: 7 * times,
            sends_late: 8 * times,
            censored: 9 * times,
            handshakes_full: 10 * times,
            handshakes_resumed: 11 * times,
            reopened: 12 * times,
        };
        let mut sum = counts(1);
        sum.merge(&counts(10));
        assert_eq!(counts(11), sum);
    }
}
