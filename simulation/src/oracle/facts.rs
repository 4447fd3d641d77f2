//! What the oracles know of a run besides objects and ledger: what excuses what.

/// Facts of a run.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct Facts {
    /// Which process last sent something to the driver.
    pub(crate) caller: usize,
    /// Somebody took the finalizer off.
    stripped: bool,
    /// So that nobody can know what is at the backend: while Ready, or in a run in which a process died (R12).
    pub(crate) forced: bool,
    /// How often a process ended, in whatever way.
    pub(crate) deaths: u32,
    /// Somebody took a Secret away.
    pub(crate) meddled: bool,
    /// Somebody changed the deletion policy.
    pub(crate) flipped: bool,
    /// How many writes the sidecars made, Leases and Events aside.
    pub(crate) writes: u32,
    /// How many calls reached the driver.
    pub(crate) calls: u32,
}

impl Facts {
    pub(crate) fn process_died(&mut self) {
        self.deaths += 1;
        self.forced |= self.stripped;
    }

    pub(crate) fn stripped(&mut self, ready: bool) {
        self.stripped = true;
        self.forced |= ready || self.deaths > 0;
    }

    /// Whether somebody interfered with what holds the object.
    pub(crate) fn was_stripped(&self) -> bool {
        self.stripped
    }
}
