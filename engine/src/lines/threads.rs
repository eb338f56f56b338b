//! One thread over the steady phase, as the summary tells it.

use crate::attention::Spent;
use crate::slice::Slice;
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// The sum of a thread's slices.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    spent: Spent,
    requests: u64,
    loop_stall_max_ns: u64,
}

impl Thread {
    /// Adds one slice.
    pub fn add(&mut self, slice: &Slice) {
        self.spent.add(slice.spent);
        self.requests += slice.offered;
        self.loop_stall_max_ns = self.loop_stall_max_ns.max(slice.loop_stall_max_ns);
    }
}

impl Serialize for Thread {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_struct("Thread", 7)?;
        line.serialize_field("cpu_user_ns", &self.spent.cpu.user_ns)?;
        line.serialize_field("cpu_system_ns", &self.spent.cpu.system_ns)?;
        line.serialize_field("requests", &self.requests)?;
        line.serialize_field("loop_stall_max_ns", &self.loop_stall_max_ns)?;
        line.serialize_field("cpu_share", &self.spent.cpu_share())?;
        line.serialize_field("idle_ns", &self.spent.idle_ns)?;
        line.serialize_field("run_delay_ns", &self.spent.run_delay_ns)?;
        line.end()
    }
}
