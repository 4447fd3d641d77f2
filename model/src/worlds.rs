//! The worlds in which no invariant may be broken.

use crate::{Bounds, Budget, Driver, Kind, NotAfter};

const NONE: Budget = Bounds::QUIET.budget;
const BUCKET: Bounds = Bounds::QUIET;
const FOREIGN: Bounds = Bounds { foreign_bucket: true, ..BUCKET };
const PAIR: Bounds = Bounds { standby: true, ..BUCKET };
const PROMPT_PAIR: Bounds = Bounds { pauses: false, ..PAIR };
const ACCESS: Bounds = Bounds { kind: Kind::Access, ..BUCKET };
const ACCESS_PAIR: Bounds = Bounds { standby: true, ..ACCESS };

impl Bounds {
    /// Some seconds: what each change is checked with. Every driver stands in each of the worlds.
    #[must_use]
    pub fn quick() -> Vec<Self> {
        let trouble = Budget { calls: 1, deletes: 1, ..NONE };
        let worlds = [
            (BUCKET, Budget { crashes: 1, writes: 1, strips: 1, ..trouble }),
            (BUCKET, Budget { crashes: 1, deletes: 2, strips: 1, recreates: 1, ..NONE }),
            (BUCKET, Budget { flips: 1, holds: 1, ..trouble }),
            (FOREIGN, Budget { crashes: 1, strips: 1, ..trouble }),
            (PAIR, Budget { lapses: 1, ..trouble }),
            (PAIR, Budget { crashes: 1, ..trouble }),
            (ACCESS, Budget { crashes: 1, lost_secrets: 1, ..trouble }),
            (ACCESS_PAIR, Budget { lapses: 1, deletes: 1, lost_secrets: 1, ..NONE }),
        ];
        let prompt = [(PROMPT_PAIR, Budget { lapses: 1, strips: 1, deletes: 1, ..NONE })];
        with_drivers(&worlds, &prompt)
    }

    /// Some minutes: the same with more trouble in one life.
    #[must_use]
    pub fn thorough() -> Vec<Self> {
        let trouble = Budget { calls: 1, deletes: 1, strips: 1, ..NONE };
        let again = Budget { deletes: 2, recreates: 1, ..trouble };
        let worlds = [
            (BUCKET, Budget { crashes: 1, writes: 1, flips: 1, ..trouble }),
            (BUCKET, Budget { crashes: 1, holds: 1, writes: 1, ..trouble }),
            (BUCKET, Budget { crashes: 2, calls: 2, ..trouble }),
            (BUCKET, Budget { crashes: 1, writes: 1, ..again }),
            (FOREIGN, Budget { crashes: 2, calls: 2, flips: 1, ..trouble }),
            (PAIR, Budget { lapses: 1, writes: 1, ..trouble }),
            (PAIR, Budget { lapses: 1, flips: 1, ..trouble }),
            (PAIR, Budget { crashes: 2, ..trouble }),
            (ACCESS, Budget { crashes: 1, writes: 1, lost_secrets: 1, ..trouble }),
            (ACCESS_PAIR, Budget { lapses: 1, writes: 1, lost_secrets: 1, calls: 0, ..trouble }),
            (ACCESS_PAIR, Budget { lapses: 1, lost_secrets: 1, strips: 0, ..trouble }),
            (ACCESS_PAIR, Budget { crashes: 2, lost_secrets: 1, strips: 0, ..trouble }),
        ];
        let prompt = [
            (PROMPT_PAIR, Budget { lapses: 1, ..trouble }),
            (PROMPT_PAIR, Budget { lapses: 1, crashes: 1, strips: 0, ..trouble }),
        ];
        with_drivers(&worlds, &prompt)
    }
}

/// Each world with every driver of the SDK, and those without pauses also with every driver that knows nothing of late calls.
fn with_drivers(worlds: &[(Bounds, Budget)], prompt: &[(Bounds, Budget)]) -> Vec<Bounds> {
    let sdk = Driver::all(NotAfter::Every);
    let others = Driver::all(NotAfter::Ignored);
    let pairs = worlds.iter().map(|world| (world, &sdk)).chain(prompt.iter().map(|world| (world, &others)));
    let all = pairs.flat_map(|((bounds, budget), drivers)| {
        drivers.iter().map(|driver| Bounds { driver: *driver, budget: *budget, ..*bounds })
    });
    all.collect()
}
