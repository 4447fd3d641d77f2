//! What sidecars log, searched for credentials (I7).

use std::cell::Cell;
use std::io;
use std::sync::{LazyLock, Once};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use cosi_sim::driver::CANARY;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

thread_local! {
    /// Whether this thread's run is listened to. Writing every line down costs more than the rest of a run.
    static LISTENING: Cell<bool> = const { Cell::new(false) };
    static LEAKED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the sidecar or a library that sees values is speaking. What transports the bytes says much, and of frames only.
fn speaks(target: &str) -> bool {
    !["h2", "hyper", "tower::"].iter().any(|transport| target.starts_with(transport))
}

/// The log of this thread's run, while it exists.
pub(crate) struct Listener(());

impl Listener {
    /// Listens if `to_this` is true: to every level.
    pub(crate) fn new(to_this: bool) -> Self {
        static SUBSCRIBED: Once = Once::new();
        if to_this {
            SUBSCRIBED.call_once(|| {
                let lines = tracing_subscriber::fmt::layer().with_writer(|| Search).with_ansi(false);
                let lines = lines.with_filter(filter_fn(|line| LISTENING.get() && speaks(line.target())));
                // Somebody else's subscriber hears what is said, then, and nothing is found here.
                let _ = tracing_subscriber::registry().with(lines).try_init();
            });
        }
        LISTENING.set(to_this);
        LEAKED.set(false);
        Self(())
    }

    /// Whether a credential was printed.
    pub(crate) fn heard_a_credential() -> bool {
        LEAKED.get()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        LISTENING.set(false);
    }
}

/// Whether a credential is in it, as it is or as the data of a Secret has it. Every credential of the driver begins with the canary.
pub(crate) fn holds_a_credential(text: &[u8]) -> bool {
    // Groups of three bytes become four letters, whatever follows.
    static ENCODED: LazyLock<String> = LazyLock::new(|| {
        let whole = CANARY.len() / 3 * 3;
        BASE64_STANDARD.encode(CANARY.get(..whole).unwrap_or(CANARY))
    });
    let holds = |what: &[u8]| text.windows(what.len()).any(|part| part == what);
    holds(CANARY.as_bytes()) || holds(ENCODED.as_bytes())
}

/// Looks at each line, and forgets it.
struct Search;

impl io::Write for Search {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if holds_a_credential(line) {
            LEAKED.set(true);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
