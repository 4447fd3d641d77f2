//! The step: one event in, one effect out.

use std::time::Duration;

use super::known::Known;
use super::reign::{Reign, lost};
use super::{Effect, End, Event, Found, Loss, Moment, Record, Standing, Terms, Write, Written};
use crate::{Impossible, Time};

/// One elector of one Lease.
#[derive(Clone, Debug)]
pub struct Election {
    me: Box<str>,
    terms: Terms,
    state: State,
}

/// Where the election stands, and what the next event must answer.
#[derive(Clone, Debug, PartialEq)]
enum State {
    /// Nothing was asked yet.
    New,
    /// A candidate; the Lease is being read, since what is known of it may be old.
    Looking(Known),
    /// A candidate whose write was refused, since somebody else had written; what is being read.
    Contested(Known),
    /// A candidate; the Lease is somebody's, or could not be had, and a change or a time is waited for.
    Watching(Known),
    /// A candidate; the Lease was free, and a write that takes it was sent at that time. It may be ours already.
    Taking(Known, Time),
    /// The leader; the next renewal is not due yet.
    Resting(Reign),
    /// The leader; whether the Lease is still ours is being read.
    Verifying(Reign),
    /// The leader; a renewal, or the giving back, was sent at that time.
    Writing(Reign, Time),
    /// It is over.
    Over(End),
}

impl Election {
    /// An elector that signs as `me`, which nobody else does, ever.
    #[must_use]
    pub fn new(me: &str, terms: Terms) -> Self {
        Self { me: me.into(), terms, state: State::New }
    }

    /// Where this process stands.
    #[must_use]
    pub fn standing(&self) -> Standing<'_> {
        match &self.state {
            State::New => Standing::Candidate { holder: None },
            State::Looking(known)
            | State::Contested(known)
            | State::Watching(known)
            | State::Taking(known, _) => {
                Standing::Candidate { holder: known.holder().filter(|holder| **holder != *self.me) }
            }
            // A giving back may be done before it is known to be.
            State::Resting(reign) | State::Verifying(reign) | State::Writing(reign, _)
                if !reign.resigning =>
            {
                Standing::Leading(reign.term(&self.terms))
            }
            State::Resting(_) | State::Verifying(_) | State::Writing(..) | State::Over(_) => Standing::Over,
        }
    }

    /// Folds in what happened and says what to do next.
    ///
    /// # Errors
    ///
    /// [`Impossible`] if the event does not answer the last effect; nothing has changed then.
    pub fn step(&mut self, event: Event, at: Moment) -> Result<Effect, Impossible> {
        let now = at.now;
        let state = std::mem::replace(&mut self.state, State::New);
        let effect = match (state, event) {
            (State::New, Event::Start) => self.look(Known::Nothing, now),
            (State::New | State::Looking(_) | State::Contested(_) | State::Watching(_), Event::Stop) => {
                self.end(End::Withdrawn)
            }
            // A server that refuses without a reason is not to be flooded.
            (State::Contested(known), Event::Read(Ok(found))) if known.is_same(found.as_ref()) => {
                self.watch(known, now + self.terms.pause())
            }
            (State::Looking(known) | State::Contested(known), Event::Read(Ok(found)))
            | (State::Watching(known), Event::Seen(found)) => {
                self.candidate(known.saw(found, &self.me, &self.terms, now), at)
            }
            (State::Looking(known) | State::Contested(known), Event::Read(Err(_))) => {
                self.watch(known, now + self.terms.retry())
            }
            (State::Watching(known), Event::Timer) => self.retry(known, at),
            (State::Taking(known, sent), Event::Wrote(written)) => self.took(known, sent, written, now),
            (State::Resting(reign), Event::Timer) => self.lead(reign, at),
            (State::Resting(reign), Event::Seen(seen)) if reign.is_old_news(seen.as_ref(), &self.terms) => {
                self.lead(reign, at)
            }
            (State::Resting(reign), Event::Seen(_)) => self.lead(reign.doubt(now), at),
            (State::Resting(reign) | State::Verifying(reign), Event::Stop) => {
                self.lead(Reign { resigning: true, next: now, ..reign }, at)
            }
            (State::Verifying(reign), Event::Read(Ok(found))) => self.verified(reign, found, at),
            (State::Verifying(reign), Event::Read(Err(_))) => {
                let next = now + self.terms.pause();
                self.lead(reign.doubt(next), at)
            }
            (State::Writing(reign, sent), Event::Wrote(written)) => self.wrote(reign, sent, written, at),
            (State::Over(end), _) => self.end(end),
            (state, event) => {
                let impossible = Impossible::new(&event, &state);
                self.state = state;
                return Err(impossible);
            }
        };
        Ok(effect)
    }

    /// What a candidate does about what it knows now.
    fn candidate(&mut self, known: Known, at: Moment) -> Effect {
        match known.free(&self.me, &self.terms) {
            Some(free) if free <= at.now => self.take(known, at),
            Some(free) => self.watch(known, free),
            None => self.look(known, at.now),
        }
    }

    /// A wait is over. It may have been cut short since nothing tells of changes; then the Lease is read.
    fn retry(&mut self, known: Known, at: Moment) -> Effect {
        match known.free(&self.me, &self.terms) {
            Some(free) if free <= at.now => self.take(known, at),
            _ => self.look(known, at.now),
        }
    }

    fn look(&mut self, known: Known, now: Time) -> Effect {
        self.state = State::Looking(known);
        Effect::Read { by: now + self.terms.patience() }
    }

    fn watch(&mut self, known: Known, until: Time) -> Effect {
        self.state = State::Watching(known);
        Effect::Wait(until)
    }

    /// Takes the Lease, if it still is as it was seen.
    fn take(&mut self, known: Known, at: Moment) -> Effect {
        let write = match &known {
            Known::There { found, .. } => {
                Write::Update { version: found.version.clone(), record: self.claim(Some(&found.record), at) }
            }
            Known::Absent { .. } | Known::Nothing => Write::Create(self.claim(None, at)),
        };
        self.state = State::Taking(known, at.now);
        Effect::Write { write, by: at.now + self.terms.patience() }
    }

    /// The record that makes the Lease ours.
    fn claim(&self, before: Option<&Record>, at: Moment) -> Record {
        let ours_already = before.filter(|record| record.holder == self.me);
        let transitions = match (before, ours_already) {
            (_, Some(ours)) => ours.transitions,
            (Some(other), None) => other.transitions.saturating_add(1),
            (None, None) => 0,
        };
        Record {
            holder: self.me.clone(),
            seconds: self.terms.seconds(),
            acquired: ours_already.and_then(|record| record.acquired).or(Some(at.wall)),
            renewed: Some(at.wall),
            transitions,
        }
    }

    fn took(&mut self, known: Known, sent: Time, written: Written, now: Time) -> Effect {
        match written {
            Written::Done(held) => {
                let reign = Reign::new(held, sent, now, &self.terms);
                match reign.over(&self.terms, now) {
                    Some(end) => self.end(end),
                    None => self.rest(reign),
                }
            }
            // Somebody was faster, or renewed it.
            Written::Conflict => {
                self.state = State::Contested(known);
                Effect::Read { by: now + self.terms.patience() }
            }
            Written::NotFound => {
                let known = known.saw(None, &self.me, &self.terms, now);
                self.watch(known, now)
            }
            Written::Unknown => self.watch(known, now + self.terms.retry()),
        }
    }

    fn rest(&mut self, reign: Reign) -> Effect {
        let until = reign.next.min(reign.term(&self.terms).act_until);
        self.state = State::Resting(reign);
        Effect::Wait(until)
    }

    /// What a leader does now.
    fn lead(&mut self, reign: Reign, at: Moment) -> Effect {
        if let Some(end) = reign.over(&self.terms, at.now) {
            return self.end(end);
        }
        if at.now < reign.next {
            return self.rest(reign);
        }
        // An answer that comes after the term is of no use.
        let by = (at.now + self.terms.patience()).min(reign.term(&self.terms).act_until);
        if reign.doubtful {
            self.state = State::Verifying(reign);
            return Effect::Read { by };
        }
        let record = if reign.resigning { reign.release(at) } else { reign.renewal(&self.terms, at) };
        let write = Write::Update { version: reign.held.version.clone(), record };
        self.state = State::Writing(reign, at.now);
        Effect::Write { write, by }
    }

    /// A leader's live read.
    fn verified(&mut self, mut reign: Reign, found: Option<Found>, at: Moment) -> Effect {
        let Some(held) = found else { return self.lose(&reign, Loss::Deleted) };
        if let Some(loss) = lost(&held, &self.me) {
            return self.lose(&reign, loss);
        }
        // A server that refuses without a reason is not to be flooded.
        let pause = if held.version == reign.held.version { self.terms.pause() } else { Duration::ZERO };
        reign.held = held;
        reign.doubtful = false;
        reign.next = at.now + pause;
        self.lead(reign, at)
    }

    /// A leader's write has ended. Only what is known to have been done lengthens the term.
    fn wrote(&mut self, reign: Reign, sent: Time, written: Written, at: Moment) -> Effect {
        match written {
            Written::Done(_) if reign.resigning => self.end(End::Released),
            // Whoever looked at the term meanwhile has seen it end.
            Written::Done(_) if reign.over(&self.terms, at.now).is_some() => self.lead(reign, at),
            Written::Done(held) => self.lead(reign.renewed(held, sent, &self.terms), at),
            Written::Conflict | Written::Unknown => self.lead(reign.doubt(at.now), at),
            Written::NotFound => self.lose(&reign, Loss::Deleted),
        }
    }

    /// One who was about to give the Lease back has lost nothing.
    fn lose(&mut self, reign: &Reign, loss: Loss) -> Effect {
        self.end(if reign.resigning { End::NotReleased } else { End::Lost(loss) })
    }

    fn end(&mut self, end: End) -> Effect {
        self.state = State::Over(end.clone());
        Effect::End(end)
    }
}
