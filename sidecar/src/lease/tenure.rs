//! Until when this process may act.

use std::sync::Arc;

use cosi_lifecycle::Time;
use cosi_lifecycle::lease::Term;
use tokio::sync::watch;

use crate::environment::Env;

/// What everybody in this process asks before acting. Clones are handles on the same one.
///
/// The answer depends on the clock alone, not on whether the task that renews the Lease got to run: a process that was stopped
/// for too long finds its term over when it wakes. Once it said no to a leader, it says no for ever: whoever asked has left
/// work undone that nobody would take up again.
#[derive(Clone, Debug)]
pub struct Tenure {
    hold: Arc<watch::Sender<Hold>>,
    env: Env,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// There is no election.
    ForEver,
    /// The Lease is not ours yet.
    Candidate,
    /// It is ours.
    Leading(Term),
    /// It is not ours any more.
    Over,
}

impl Tenure {
    /// For a process without leader election.
    #[must_use]
    pub fn for_ever(env: Env) -> Self {
        Self { hold: Arc::new(watch::Sender::new(Hold::ForEver)), env }
    }

    /// For a process that is to take the Lease first.
    #[must_use]
    pub fn candidate(env: Env) -> Self {
        Self { hold: Arc::new(watch::Sender::new(Hold::Candidate)), env }
    }

    /// Whether this process may begin something now.
    #[must_use]
    pub fn may_act(&self) -> bool {
        self.end().is_some()
    }

    /// Until when nobody else acts, if this process may begin something now.
    #[must_use]
    pub fn end(&self) -> Option<Time> {
        let hold = *self.hold.borrow();
        match hold {
            Hold::ForEver => Some(Time::at(std::time::Duration::MAX)),
            Hold::Leading(term) if self.env.now() < term.act_until => Some(term.end),
            Hold::Leading(_) => {
                self.close();
                None
            }
            Hold::Candidate | Hold::Over => None,
        }
    }

    /// The Lease is ours, by this term. Says whether that is still of use: not if somebody saw the term before it end.
    pub(super) fn lead(&self, term: Term) -> bool {
        self.hold.send_if_modified(|hold| {
            let open = matches!(hold, Hold::Candidate | Hold::Leading(_));
            if open {
                *hold = Hold::Leading(term);
            }
            open
        })
    }

    /// From now on this process may begin nothing.
    pub(super) fn close(&self) {
        self.hold.send_replace(Hold::Over);
    }

    /// Waits until the Lease is ours, and says since when.
    pub async fn taken(&self) -> Time {
        let mut hold = self.hold.subscribe();
        loop {
            if let Hold::Leading(term) = *hold.borrow_and_update() {
                return term.since;
            }
            if hold.changed().await.is_err() {
                // The sender is in `self`.
                std::future::pending::<()>().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::{Environment as _, Host};
    use std::time::Duration;

    fn term(act_for: Duration) -> Term {
        let now = Host.now();
        Term { since: now, act_until: now + act_for, end: now + act_for + Duration::from_secs(1) }
    }

    /// R15.
    #[test]
    fn only_a_leader_may_act_and_only_until_the_clock_says_so() {
        let tenure = Tenure::candidate(Arc::new(Host));
        assert!(!tenure.may_act());
        let long = term(Duration::from_mins(1));
        assert!(tenure.lead(long));
        assert_eq!(tenure.end(), Some(long.end));
        assert!(tenure.lead(term(Duration::ZERO)), "a shorter one, which is over");
        assert!(!tenure.may_act(), "though nobody closed it");
    }

    /// Whoever was told no has dropped its work.
    #[test]
    fn a_term_that_was_seen_to_end_is_not_made_longer() {
        let tenure = Tenure::candidate(Arc::new(Host));
        assert!(tenure.lead(term(Duration::ZERO)));
        assert!(!tenure.may_act());
        assert!(!tenure.lead(term(Duration::from_mins(1))));
        assert!(!tenure.may_act());
    }

    #[test]
    fn without_an_election_everybody_may_act() {
        let tenure = Tenure::for_ever(Arc::new(Host));
        assert!(tenure.may_act() && tenure.end() > Some(Host.now()));
    }
}
