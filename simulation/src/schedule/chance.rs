//! Schedules by chance.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

use super::{Act, ApiFault, CallFault, Death, DriverKind, Fault, Look, Move, Schedule, Story};

/// The most things that happen in a run by chance.
const MOST_MOVES: usize = 5;
/// A life without faults takes some twelve steps; those that are not reached happen when all is quiet.
const STEPS: u32 = 24;
/// Where trouble comes at once: within so many steps of each other, beginning at one of so many. What happens at far ends of a
/// life has little to do with each other.
const CLOSE: u32 = 4;
const BEGINNINGS: u32 = 12;

impl Schedule {
    /// The schedule of that number: the same one each time.
    #[must_use]
    pub fn random(seed: u64) -> Self {
        let mut chance = StdRng::seed_from_u64(seed);
        let story = if chance.random_bool(0.5) { Story::Bucket } else { Story::Access };
        let sidecars = if chance.random_bool(0.3) { 2 } else { 1 };
        let lags = [0, 0, 0, 0, 50, 400, 1500, 5000];
        let lag = Duration::from_millis(lags.choose(&mut chance).copied().unwrap_or_default());
        let driver = DriverKind::ALL.choose(&mut chance).copied().unwrap_or(DriverKind::GOOD);
        let count = chance.random_range(1..=MOST_MOVES);
        let steps = if chance.random_bool(0.5) {
            let first = chance.random_range(0..BEGINNINGS);
            first..first + CLOSE
        } else {
            0..STEPS
        };
        let mut moves: Vec<(u32, Move)> = (0..count)
            .map(|_| (chance.random_range(steps.clone()), a_move(&mut chance, story, sidecars)))
            .collect();
        moves.sort_by_key(|(step, _)| *step);
        Self { seed, story, driver, sidecars, lag, moves }
    }
}

fn a_move(chance: &mut StdRng, story: Story, sidecars: usize) -> Move {
    match chance.random_range(0..100) {
        0..35 => Move::Fault(Fault::Call(any(chance, &CallFault::all(), CallFault::Hangs))),
        35..60 => Move::Fault(Fault::Api(any(chance, &ApiFault::OF_WRITES, ApiFault::Lost))),
        60..72 => Move::Fault(Fault::Death(any(chance, &Death::ALL, Death::Before))),
        72..77 => match sidecars {
            1 => Move::Act(Act::Stop),
            _ => between_leaders(chance),
        },
        77..84 => Move::Watches(any(chance, &Look::ALL, Look::Cut)),
        _ => Move::Act(any(chance, acts(story), Act::Delete)),
    }
}

/// What brings a change of the leader.
fn between_leaders(chance: &mut StdRng) -> Move {
    let pause = Duration::from_secs(chance.random_range(1..60));
    match chance.random_range(0..10) {
        0 => Move::Act(Act::Stop),
        1..3 => Move::Act(Act::CutOff),
        3..5 => Move::Lease(any(chance, &ApiFault::OF_LEASES, ApiFault::Lost)),
        5..7 => Move::Fault(Fault::Freeze(pause)),
        _ => Move::Fault(Fault::Pause(pause)),
    }
}

/// What people may do in a story.
pub(crate) const fn acts(story: Story) -> &'static [Act] {
    match story {
        Story::Bucket => &[
            Act::Delete,
            Act::Delete,
            Act::DeleteBeforeClaim,
            Act::Strip,
            Act::DeleteByForce,
            Act::DeleteNamespace,
            Act::LetGo,
            Act::Again,
            Act::Restore,
            Act::Label,
            Act::Retain,
            Act::DontRetain,
            Act::Hold,
            Act::Occupy,
            Act::Vanish,
            Act::Stop,
        ],
        Story::Access => &[
            Act::Delete,
            Act::Delete,
            Act::Strip,
            Act::DeleteByForce,
            Act::DeleteNamespace,
            Act::LetGo,
            Act::Again,
            Act::Label,
            Act::LoseSecret,
            Act::TakeSecret,
            Act::Hold,
            Act::Stop,
        ],
    }
}

fn any<T: Copy>(chance: &mut StdRng, from: &[T], or: T) -> T {
    from.choose(chance).copied().unwrap_or(or)
}
