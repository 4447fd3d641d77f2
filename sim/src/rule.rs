//! Rules: what a double does out of the ordinary, when, and how a test hears that it happened.
//!
//! Every rule sees every arrival that it matches and counts it; the first rule that is due acts. So *the second patch of
//! this Bucket's status* means the second one that arrived, whatever other rules did to it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;

use crate::lock;

/// How long the `wait_…` functions of this crate wait before they give up.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Something that a test waited for did not happen within [`PATIENCE`].
///
/// Debug prints the same text as Display, so that an `unwrap()` in a test is readable.
#[derive(Clone, thiserror::Error)]
#[error("waited {patience:?} in vain: {what}")]
pub struct TimedOut {
    patience: Duration,
    what: String,
}

impl fmt::Debug for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Waits until `ready` holds, which is asked again after every change of the watched value.
///
/// It is asked without a lock on that value, since it may need locks that are held while the value changes.
pub(crate) async fn wait_until<T>(
    changes: &watch::Sender<T>,
    ready: impl Fn() -> bool,
    what: impl FnOnce() -> String,
) -> Result<(), TimedOut> {
    wait_for(PATIENCE, changes, ready, what).await
}

/// Waits until `count` has stayed the same for as long as `silence`.
pub(crate) async fn wait_quiet<T>(
    silence: Duration,
    changes: &watch::Sender<T>,
    count: impl Fn() -> usize,
    what: impl FnOnce() -> String,
) -> Result<(), TimedOut> {
    let quiet = async {
        loop {
            let before = count();
            if wait_for(silence, changes, || count() != before, String::new).await.is_err() {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, quiet).await.map_err(|_| TimedOut { patience: PATIENCE, what: what() })
}

async fn wait_for<T>(
    patience: Duration,
    changes: &watch::Sender<T>,
    ready: impl Fn() -> bool,
    what: impl FnOnce() -> String,
) -> Result<(), TimedOut> {
    let mut changes = changes.subscribe();
    let met = async {
        while !ready() {
            // The sender outlives us: its owner is waiting.
            let _ = changes.changed().await;
        }
    };
    tokio::time::timeout(patience, met).await.map_err(|_| TimedOut { patience, what: what() })
}

/// Which of the matching arrivals a rule acts on: skip some, then take some (or all).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    skip: u64,
    take: Option<u64>,
}

impl Window {
    pub(crate) fn nth(n: u64) -> Self {
        Self { skip: n.saturating_sub(1), take: Some(1) }
    }

    pub(crate) fn first(n: u64) -> Self {
        Self { skip: 0, take: Some(n) }
    }

    pub(crate) fn from(n: u64) -> Self {
        Self { skip: n.saturating_sub(1), take: None }
    }

    pub(crate) fn or_first(self, n: u64) -> Self {
        Self { skip: self.skip, take: self.take.or(Some(n)) }
    }

    /// The position within the window of the `seen`-th arrival, if it is inside.
    fn place(self, seen: u64) -> Option<u64> {
        let place = seen.checked_sub(self.skip)?.checked_sub(1)?;
        self.take.is_none_or(|take| place < take).then_some(place)
    }
}

/// What a rule and its handle share.
pub(crate) struct Shared<A> {
    title: String,
    hits: watch::Sender<Vec<A>>,
    gate: watch::Sender<bool>,
    off: AtomicBool,
}

impl<A> Shared<A> {
    fn new(title: String) -> Self {
        Self {
            title,
            hits: watch::Sender::new(Vec::new()),
            gate: watch::Sender::new(false),
            off: AtomicBool::new(false),
        }
    }

    /// Waits for [`Rule::release`], for as long as it takes.
    pub(crate) async fn released(&self) {
        // The sender lives in `self`, so this can't fail.
        let _ = self.gate.subscribe().wait_for(|open| *open).await;
    }
}

/// A test's handle on one rule. Dropping it leaves the rule in force.
#[derive(Clone)]
pub struct Rule<A> {
    shared: Arc<Shared<A>>,
}

impl<A: Clone> Rule<A> {
    /// How often the rule has acted.
    #[must_use]
    pub fn hits(&self) -> usize {
        self.shared.hits.borrow().len()
    }

    /// Waits for the first arrival that the rule acts on, and gives it back.
    ///
    /// # Errors
    /// [`TimedOut`] after [`PATIENCE`].
    pub async fn wait_hit(&self) -> Result<A, TimedOut> {
        self.wait_hits(1).await
    }

    /// Waits until the rule has acted `n` times, and gives back the n-th arrival (counted from 1).
    ///
    /// # Errors
    /// [`TimedOut`] after [`PATIENCE`].
    pub async fn wait_hits(&self, n: usize) -> Result<A, TimedOut> {
        self.wait_hits_for(PATIENCE, n).await
    }

    async fn wait_hits_for(&self, patience: Duration, n: usize) -> Result<A, TimedOut> {
        let what =
            || format!("hit {n} of the rule \"{}\", which acted {} times", self.shared.title, self.hits());
        wait_for(patience, &self.shared.hits, || self.hits() >= n, what).await?;
        let hit = self.shared.hits.borrow().get(n.saturating_sub(1)).cloned();
        hit.ok_or_else(|| TimedOut { patience, what: what() })
    }

    /// Opens the gate: whatever this rule holds, now or later, goes on.
    pub fn release(&self) {
        self.shared.gate.send_replace(true);
    }

    /// Takes the rule out of force. What it holds stays held until [`Rule::release`].
    pub fn off(&self) {
        self.shared.off.store(true, Ordering::Relaxed);
    }
}

impl<A> fmt::Debug for Rule<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.shared.title)
    }
}

type Matches<A> = Box<dyn Fn(&A) -> bool + Send>;

struct Armed<A, D> {
    matches: Matches<A>,
    window: Window,
    acts: Vec<D>,
    seen: u64,
    shared: Arc<Shared<A>>,
}

impl<A, D: Clone> Armed<A, D> {
    /// Counts an arrival, and says what to do if the rule is due.
    fn arrival(&mut self, arrival: &A) -> Option<D> {
        if self.shared.off.load(Ordering::Relaxed) || !(self.matches)(arrival) {
            return None;
        }
        self.seen += 1;
        let place = usize::try_from(self.window.place(self.seen)?).ok()?;
        self.acts.get(place).or_else(|| self.acts.last()).cloned()
    }
}

/// What a rule wants done, with its gate.
pub(crate) struct Picked<A, D> {
    pub(crate) act: D,
    pub(crate) rule: Arc<Shared<A>>,
}

impl<A, D> Picked<A, D> {
    /// What no rule asks for.
    pub(crate) fn by_itself(act: D) -> Self {
        Self { act, rule: Arc::new(Shared::new("by itself".to_owned())) }
    }
}

/// All rules of one double, in the order in which they were made.
pub(crate) struct Rules<A, D> {
    armed: Mutex<Vec<Armed<A, D>>>,
}

impl<A, D> Default for Rules<A, D> {
    fn default() -> Self {
        Self { armed: Mutex::default() }
    }
}

impl<A: Clone, D: Clone> Rules<A, D> {
    /// Adds a rule; the i-th arrival in its window gets the i-th act, later ones the last.
    pub(crate) fn add(&self, title: String, matches: Matches<A>, window: Window, acts: Vec<D>) -> Rule<A> {
        let shared = Arc::new(Shared::new(title));
        lock(&self.armed).push(Armed { matches, window, acts, seen: 0, shared: Arc::clone(&shared) });
        Rule { shared }
    }

    /// Shows an arrival to every rule; the first one that is due acts.
    pub(crate) fn pick(&self, arrival: &A) -> Option<Picked<A, D>> {
        let mut picked = None;
        for rule in lock(&self.armed).iter_mut() {
            if let (Some(act), None) = (rule.arrival(arrival), &picked) {
                picked = Some(Picked { act, rule: Arc::clone(&rule.shared) });
            }
        }
        if let Some(picked) = &picked {
            picked.rule.hits.send_modify(|hits| hits.push(arrival.clone()));
        }
        picked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules_for_even() -> (Rules<u64, &'static str>, Matches<u64>) {
        (Rules::default(), Box::new(|n| n % 2 == 0))
    }

    #[test]
    fn a_rule_acts_on_the_nth_arrival_that_matches_and_on_no_other() {
        let (rules, even) = rules_for_even();
        let rule = rules.add("even".into(), even, Window::nth(2), vec!["act"]);
        let acted: Vec<u64> = (0..10).filter(|n| rules.pick(n).is_some()).collect();
        assert_eq!(acted, [2]);
        assert_eq!(rule.hits(), 1);
    }

    #[test]
    fn a_queue_of_acts_is_used_up_in_order() {
        let (rules, even) = rules_for_even();
        rules.add("even".into(), even, Window::default().or_first(2), vec!["one", "two"]);
        let acts: Vec<_> = (0..10).filter_map(|n| rules.pick(&n).map(|p| p.act)).collect();
        assert_eq!(acts, ["one", "two"]);
    }

    #[test]
    fn an_earlier_rule_goes_first_and_the_later_one_counts_all_the_same() {
        let (rules, even) = rules_for_even();
        rules.add("first".into(), even, Window::first(1), vec!["first"]);
        rules.add("second".into(), Box::new(|_| true), Window::from(2), vec!["second"]);
        let acts: Vec<_> = (0..3).filter_map(|n| rules.pick(&n).map(|p| p.act)).collect();
        assert_eq!(acts, ["first", "second", "second"]);
    }

    #[test]
    fn a_rule_that_is_off_does_nothing() {
        let (rules, even) = rules_for_even();
        rules.add("even".into(), even, Window::default(), vec!["act"]).off();
        assert!(rules.pick(&2).is_none());
    }

    #[tokio::test]
    async fn waiting_in_vain_names_the_rule() {
        let (rules, even) = rules_for_even();
        let rule = rules.add("even numbers".into(), even, Window::default(), vec!["act"]);
        let error = rule.wait_hits_for(Duration::from_millis(10), 1).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "waited 10ms in vain: hit 1 of the rule \"even numbers\", which acted 0 times"
        );
    }

    #[tokio::test]
    async fn waiting_gives_back_what_arrived_and_release_opens_the_gate() {
        let (rules, even) = rules_for_even();
        let rule = rules.add("even".into(), even, Window::default(), vec!["act"]);
        let picked = rules.pick(&4).unwrap();
        assert_eq!(rule.wait_hit().await.unwrap(), 4);
        rule.release();
        picked.rule.released().await;
    }
}
