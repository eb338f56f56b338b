//! One connection of HTTP/2: its session, and what each of its lanes is doing.

use super::super::{Cause, What};
use crate::wire::h2::Code;
use crate::wire::h2::session::Session;
use std::collections::VecDeque;

/// What a lane is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Doing {
    /// It has no request.
    #[default]
    Nothing,
    /// Its request waits until the server allows another stream.
    Waiting,
    /// It has been told that its turn has come.
    Woken,
    /// Its request has a stream.
    Open,
}

/// The place of one stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lane {
    doing: Doing,
    /// The server refused to work on the present request once.
    pub refused: bool,
}

impl Lane {
    /// Whether it has a stream.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.doing == Doing::Open
    }

    /// Whether it has no request.
    pub fn is_free(&self) -> bool {
        self.doing == Doing::Nothing
    }

    /// Whether its request has not been sent.
    pub fn waits(&self) -> bool {
        matches!(self.doing, Doing::Waiting | Doing::Woken)
    }
}

/// One connection.
pub struct Link {
    /// What is spoken on it; `None`: it is not there.
    pub session: Option<Box<Session>>,
    pub lanes: Vec<Lane>,
    /// Lanes that wait, the one that has waited longest first.
    waiting: VecDeque<u32>,
    /// How many have been told to go, and have not gone.
    woken: usize,
    /// Lanes of which a part of the body is still to be sent.
    pub blocked: Vec<u32>,
    /// Bodies stopped because the socket had not taken what there was.
    pub full: bool,
    /// The place that opened it.
    pub opener: usize,
    /// It is in the list of those that have to be seen to.
    pub touched: bool,
    /// The last send was short.
    pub short: bool,
    /// How it ended, as its requests are told.
    pub over: Option<What>,
}

impl Link {
    /// A connection that is not there.
    pub fn new(lanes: usize) -> Link {
        Link {
            session: None,
            lanes: vec![Lane::default(); lanes],
            waiting: VecDeque::new(),
            woken: 0,
            blocked: Vec::new(),
            full: false,
            opener: 0,
            touched: false,
            short: false,
            over: None,
        }
    }

    /// It is there.
    pub fn begin(&mut self) {
        self.close();
        self.session = Some(Box::new(Session::new(self.lanes.len())));
    }

    /// It is not there any more, and nobody waits for it. That a request was refused before is remembered.
    pub fn close(&mut self) {
        self.session = None;
        self.lanes.iter_mut().for_each(|lane| lane.doing = Doing::Nothing);
        self.waiting.clear();
        self.blocked.clear();
        (self.woken, self.full, self.short, self.over) = (0, false, false, None);
    }

    /// Whether this lane may begin a stream now. If not, it waits.
    #[inline]
    pub fn admit(&mut self, slot: usize) -> bool {
        let room = self.session.as_ref().map_or(0, |session| session.room());
        let doing = &mut self.lanes[slot].doing;
        match *doing {
            Doing::Woken => {
                self.woken -= 1;
                if room == 0 {
                    *doing = Doing::Waiting;
                    self.waiting.push_front(slot as u32);
                    return false;
                }
            }
            Doing::Waiting => return false,
            // Those who have waited go first.
            _ if !self.waiting.is_empty() || room <= self.woken => {
                *doing = Doing::Waiting;
                self.waiting.push_back(slot as u32);
                return false;
            }
            _ => {}
        }
        *doing = Doing::Open;
        true
    }

    /// Tells those whose turn has come; the lanes lie from place `first` on.
    pub fn wake(&mut self, first: usize, told: &mut VecDeque<(usize, What)>) {
        if self.waiting.is_empty() {
            return;
        }
        let room = self.session.as_ref().map_or(0, |session| session.room());
        while room > self.woken {
            let Some(slot) = self.waiting.pop_front() else { return };
            self.lanes[slot as usize].doing = Doing::Woken;
            self.woken += 1;
            told.push_back((first + slot as usize, What::Writable));
        }
    }

    /// There may be room for the rest of bodies.
    pub fn unblock(&mut self, first: usize, told: &mut VecDeque<(usize, What)>) {
        told.extend(self.blocked.drain(..).map(|slot| (first + slot as usize, What::Writable)));
    }

    /// This lane has no request any more.
    #[inline]
    pub fn free(&mut self, slot: usize) {
        match std::mem::take(&mut self.lanes[slot].doing) {
            Doing::Waiting => self.waiting.retain(|waiting| *waiting != slot as u32),
            Doing::Woken => self.woken -= 1,
            Doing::Open if !self.blocked.is_empty() => self.blocked.retain(|blocked| *blocked != slot as u32),
            _ => {}
        }
    }

    /// The server ended the stream of this lane with `code`: what its place is told, if it is told now.
    ///
    /// A request that the server did not work on is sent once more (RFC 9113, 8.7): here, or where the server is leaving, on the next
    /// connection, once those that it works on are done.
    pub fn reset(&mut self, slot: usize, code: u32) -> Option<What> {
        self.free(slot);
        let lane = &mut self.lanes[slot];
        let before = std::mem::replace(&mut lane.refused, code == Code::Refused as u32);
        if before || !lane.refused {
            lane.refused = false;
            return Some(What::Reset);
        }
        if self.session.as_ref().is_some_and(|session| session.is_worn()) {
            lane.doing = Doing::Waiting;
            self.waiting.push_back(slot as u32);
            return None;
        }
        Some(What::Behind(Cause::Unheard))
    }

    /// Whether the server has said that it takes no more requests on it.
    pub fn is_leaving(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.is_leaving())
    }

    /// Whether it can carry no further request, and those it carried are done.
    pub fn is_worn_out(&self) -> bool {
        self.over.is_none() && self.session.as_ref().is_some_and(|session| session.is_worn() && session.open() == 0)
    }
}

/// Whether an event means nothing once its connection has been closed.
pub(super) fn is_moot(what: What) -> bool {
    matches!(what, What::Writable | What::Left { .. })
}
