//! The shell: one pass at a time, events in, effects out.

use std::sync::Arc;

use super::{Crash, Depth, Fault, Invariant, Mutant, NAME, Phase, RECHECK, RETRY_MAX, Trigger, World};
use super::{GRACE, TIMEOUT};
use crate::bucket::{BucketState, BucketView, Effect, Event};
use crate::{Context, Machine as _, Time, Wake};
use std::time::Duration;

/// More effects than any sane run has.
const ENDLESS: usize = 250;

impl World {
    /// Runs everything to its end and asks the oracles.
    pub(crate) fn run(mut self) -> Self {
        self.deliver();
        while self.effects.len() < ENDLESS {
            match self.phase.clone() {
                Phase::Run(effect) => self.perform(&effect),
                Phase::Idle(until) => {
                    if !self.idle(until) {
                        break;
                    }
                }
            }
        }
        if self.effects.len() >= ENDLESS {
            self.violate(Invariant::Progress, "work never ends".to_owned());
        }
        self.judge();
        self.stay_quiet();
        self
    }

    /// Between passes. Returns whether there is more to come.
    fn idle(&mut self, until: Option<Time>) -> bool {
        self.act_until(0);
        self.deliver();
        if self.woken || self.connected {
            self.start();
            return true;
        }
        if let Some(arrives) = self.next_delivery()
            && until.is_none_or(|until| arrives <= until)
        {
            self.advance(arrives);
            return true;
        }
        let overdue = self.disturbed + self.bound();
        let quiet = until.is_none_or(|t| t > overdue);
        if let Some(landing) = self.next_landing().filter(|_| quiet) {
            self.advance(landing);
            return true;
        }
        if quiet && let Some((_, op)) = self.ops.pop_front() {
            self.judge();
            self.act(&op);
            self.act_at_once();
            return true;
        }
        match until {
            Some(until) if !quiet => {
                self.advance(until);
                self.start();
                true
            }
            _ => false,
        }
    }

    /// How long it may take to reach the desired state (I6).
    pub(super) fn bound(&self) -> Duration {
        let refused = if self.refused { RECHECK } else { Duration::ZERO };
        (TIMEOUT + GRACE) * 2 + RETRY_MAX + refused + Duration::from_secs(1)
    }

    /// After all is settled: nothing more is written or called, whatever time passes.
    fn stay_quiet(&mut self) {
        let before = (self.writes, self.rpcs);
        let end = self.now + RECHECK * 2;
        while self.effects.len() < ENDLESS {
            match self.phase.clone() {
                Phase::Run(effect) => self.perform(&effect),
                Phase::Idle(Some(until)) if until < end => {
                    self.advance(until);
                    self.start();
                }
                Phase::Idle(_) => break,
            }
        }
        if before != (self.writes, self.rpcs) && !self.never_ready {
            self.violate(Invariant::Progress, "it is not quiet after it settled".to_owned());
        }
    }

    fn perform(&mut self, effect: &Effect) {
        let n = self.effects.len();
        self.act_until(2 * n);
        if let Some(pick) = self.dice.get(n) {
            let all = Fault::all(effect, self.backend.kind, Depth::Every);
            self.plan.extend(all.get(usize::from(*pick)).map(|fault| (n, *fault)));
        }
        let fault = self.plan.iter().find(|(at, _)| *at == n).map(|(_, fault)| *fault);
        self.effects.push(effect.clone());
        self.log(|| format!("#{n} {effect:?}, fault {fault:?}"));
        if fault == Some(Fault::Crash(Crash::Before)) {
            return self.crash();
        }
        self.refused |= fault.is_some_and(Fault::is_refusal);
        let event = self.execute(effect, fault);
        if fault.is_some() {
            self.disturbed = self.next_landing().unwrap_or(self.now).max(self.now);
        }
        self.act_until(2 * n + 1);
        if matches!(fault, Some(Fault::Crash(_))) {
            return self.crash();
        }
        self.feed(event);
    }

    /// One step, or what a seeded bug makes of it.
    fn feed(&mut self, event: Event) {
        let event = self.corrupt(event);
        let view = self.present();
        let settings = self.believed_settings();
        let ctx = Context {
            now: self.now,
            settings: &settings,
            jitter: 1.0,
            by_name_missing: self.by_name_missing,
            predecessor_done: if self.has(Mutant::NoPredecessor) {
                Time::default()
            } else {
                self.predecessor_done
            },
        };
        let effect = self.state.step(view.as_ref(), event, &ctx).unwrap();
        let effect = self.divert(effect);
        self.phase = match effect {
            Effect::Wait(until) => Phase::Idle(Some(until)),
            Effect::Done => Phase::Idle(None),
            effect => Phase::Run(effect),
        };
        if matches!(self.phase, Phase::Idle(_)) {
            let phase = self.phase.clone();
            self.log(|| format!("{phase:?}"));
            if self.state.is_empty() {
                self.state = BucketState::default();
            }
        }
    }

    fn start(&mut self) {
        let changed = std::mem::take(&mut self.woken);
        let connected = std::mem::take(&mut self.connected);
        self.log(|| format!("start: changed {changed}, connected {connected}"));
        self.feed(Event::Start(Wake { changed, connected, prerequisite: false }));
    }

    /// The process dies; another one lists and starts.
    fn crash(&mut self) {
        self.log(|| "crash".to_owned());
        let guarded = self.api.object.as_ref().is_some_and(|o| o.view.finalizer);
        self.forced |= self.stripped && !guarded && !self.state.is_empty();
        for running in &mut self.backend.running {
            running.crashes += 1;
        }
        self.state = BucketState::default();
        self.index = self.api.view();
        self.seen = self.api.version;
        self.api.events.clear();
        self.by_name_missing = false;
        // Its successor can't know of what was acknowledged, and may replay.
        self.acknowledged.clear();
        self.saw_unknown = false;
        self.predecessor_done = self.now + TIMEOUT + GRACE;
        self.disturbed = self.next_landing().unwrap_or(self.now).max(self.now);
        self.woken = true;
        self.connected = true;
        self.phase = Phase::Idle(None);
    }

    /// The watch delivers what is due.
    pub(super) fn deliver(&mut self) {
        while let Some(event) =
            self.api.events.pop_front_if(|e| e.at + self.lag.unwrap_or_default() <= self.now)
        {
            if event.version > self.seen {
                self.seen = event.version;
                self.woken |= BucketView::matters(self.index.as_deref(), event.view.as_deref());
                self.index = event.view;
            }
        }
    }

    /// When the next thing takes effect that nobody waits for.
    fn next_landing(&self) -> Option<Time> {
        let writes = self.late_writes.iter().map(|(lands, _)| *lands);
        self.backend.next_landing().into_iter().chain(writes).min()
    }

    fn next_delivery(&self) -> Option<Time> {
        self.api.events.front().map(|e| e.at + self.lag.unwrap_or_default())
    }

    /// What a read or an own write returned (R5). That there is no object has no version: older events may follow.
    pub(super) fn fold(&mut self, version: u64, view: Option<Arc<BucketView>>) {
        if version >= self.seen {
            self.seen = if view.is_some() { version } else { 0 };
            self.index = view;
        }
    }

    pub(super) fn advance(&mut self, to: Time) {
        self.now = self.now.max(to);
        self.api.now = self.now;
        self.backend.advance(self.now);
        self.check_removed();
        self.land_writes();
    }

    fn act_until(&mut self, point: usize) {
        while let Some((trigger, _)) = self.ops.front()
            && match trigger {
                Trigger::Point(at) => *at <= point,
                Trigger::Gone => self.api.object.is_none(),
                _ => false,
            }
            && let Some((_, op)) = self.ops.pop_front()
        {
            self.act(&op);
            self.act_at_once();
        }
    }

    fn act_at_once(&mut self) {
        while let Some((Trigger::AtOnce | Trigger::Soon(_), _)) = self.ops.front()
            && let Some((_, op)) = self.ops.pop_front()
        {
            self.act(&op);
        }
    }

    /// The object as the machine is shown it.
    pub(super) fn present(&self) -> Option<Arc<BucketView>> {
        let view = self.index.clone()?;
        debug_assert_eq!(view.name.as_ref(), NAME);
        Some(self.distort(view))
    }
}
