//! The tables of HPACK (RFC 7541, 2.3): what an index stands for.

use std::collections::VecDeque;

/// RFC 7541, Appendix A; index 1 is the first.
#[rustfmt::skip]
pub const STATIC: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"), (":scheme", "http"),
    (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"),
    (":status", "404"), (":status", "500"), ("accept-charset", ""), ("accept-encoding", "gzip, deflate"), ("accept-language", ""),
    ("accept-ranges", ""), ("accept", ""), ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""),
    ("cache-control", ""), ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""), ("etag", ""), ("expect", ""),
    ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""), ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""),
    ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""),
    ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
];

/// The size of a table that nobody has spoken about (RFC 9113, 6.5.2).
pub const DEFAULT_SIZE: usize = 4096;
/// What each entry costs on top of its bytes (RFC 7541, 4.1).
const OVERHEAD: usize = 32;

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: usize,
    name: usize,
    value: usize,
}

/// The fields that the server told us to remember, the newest first.
#[derive(Debug)]
pub struct Dynamic {
    /// Names and values one after another; those before `dead` are of entries that are gone.
    bytes: Vec<u8>,
    dead: usize,
    /// Newest at the front.
    entries: VecDeque<Entry>,
    size: usize,
    limit: usize,
    generation: u64,
}

impl Default for Dynamic {
    fn default() -> Self {
        Dynamic { bytes: Vec::new(), dead: 0, entries: VecDeque::new(), size: 0, limit: DEFAULT_SIZE, generation: 0 }
    }
}

impl Dynamic {
    /// Changes with every change of the table.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// RFC 7541, 4.3: drops what does not fit any more.
    pub fn resize(&mut self, limit: usize) {
        self.limit = limit;
        self.generation += 1;
        self.make_room(0);
    }

    /// RFC 7541, 4.4: an entry larger than the table empties it, and is no error.
    pub fn insert(&mut self, name: &[u8], value: &[u8]) {
        let need = name.len() + value.len() + OVERHEAD;
        self.generation += 1;
        self.make_room(need);
        if need > self.limit {
            return;
        }
        if self.dead > DEFAULT_SIZE {
            self.bytes.drain(..self.dead);
            self.entries.iter_mut().for_each(|entry| entry.at -= self.dead);
            self.dead = 0;
        }
        let entry = Entry { at: self.bytes.len(), name: name.len(), value: value.len() };
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        self.entries.push_front(entry);
        self.size += need;
    }

    fn make_room(&mut self, need: usize) {
        while self.size + need > self.limit {
            let Some(oldest) = self.entries.pop_back() else { return };
            self.size -= oldest.name + oldest.value + OVERHEAD;
            self.dead = oldest.at + oldest.name + oldest.value;
        }
    }

    /// Name and value of entry `index`, the newest being 0.
    pub fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let entry = self.entries.get(index)?;
        let (name, value) = self.bytes[entry.at..][..entry.name + entry.value].split_at(entry.name);
        Some((name, value))
    }

    /// Octets as RFC 7541, 4.1 counts them.
    #[cfg(test)]
    pub fn size(&self) -> usize {
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_leave_from_the_oldest_and_stay_right_over_many_inserts() {
        let mut table = Dynamic::default();
        table.resize(300);
        for i in if cfg!(miri) { 4000 } else { 0 }..5000_u32 {
            let (name, value) = (format!("name-{i}"), format!("value-{}", i * 7));
            table.insert(name.as_bytes(), value.as_bytes());
            assert!(table.size() <= 300 && table.bytes.len() < 3 * DEFAULT_SIZE);
            for back in 0..table.entries.len() as u32 {
                let expected = (format!("name-{}", i - back), format!("value-{}", (i - back) * 7));
                let (name, value) = table.get(back as usize).unwrap();
                assert_eq!((expected.0.as_bytes(), expected.1.as_bytes()), (name, value));
            }
        }
        assert_eq!((5, None), (table.entries.len(), table.get(5)));
    }

    #[test]
    fn an_entry_larger_than_the_table_empties_it() {
        let mut table = Dynamic::default();
        table.insert(b"a", b"b");
        table.insert(b"long", &[b'x'; DEFAULT_SIZE]);
        assert_eq!((0, None), (table.size(), table.get(0)));
        table.insert(b"a", b"b");
        assert_eq!((34, Some((&b"a"[..], &b"b"[..]))), (table.size(), table.get(0)));
        table.resize(33);
        assert_eq!((0, None), (table.size(), table.get(0)));
    }
}
