//! The shell: one pass per key at a time, events in, effects out.

use std::sync::Arc;
use std::time::Duration;

use super::kind::{EffectOf, EventOf};
use super::lane::{Lane, Phase};
use super::{Crash, Depth, Fault, GRACE, Invariant, Kind, Mutant, RETRY_MAX, TIMEOUT, Trigger, World};
use crate::{Context, Machine as _, Request as _, Rest, Settings, Time, Wake};

/// More effects than any sane run has.
const ENDLESS: usize = 250;

impl<K: Kind> World<K> {
    /// Runs everything to its end and asks the oracles.
    pub(crate) fn run(mut self) -> Self {
        self.deliver();
        while self.effects.len() < ENDLESS {
            if let Some(effect) = self.next_effect() {
                self.perform(&effect);
            } else if !self.idle() {
                break;
            }
        }
        if self.effects.len() >= ENDLESS {
            self.violate(Invariant::Progress, "work never ends".to_owned());
        }
        K::judge(&mut self);
        self.stay_quiet();
        self
    }

    /// The next effect of any key; those that are at work take turns.
    fn next_effect(&mut self) -> Option<EffectOf<K>> {
        let running = |lane: &Lane<K>| matches!(lane.phase, Phase::Run(_));
        if self.lanes.iter().any(running) {
            while let Some(woken) = self.lanes.iter().position(Lane::is_woken) {
                self.start(woken);
            }
        }
        let turns = 1..=self.lanes.len();
        let next = turns.map(|n| (self.turn + n) % self.lanes.len()).find(|n| running(&self.lanes[*n]))?;
        self.turn = next;
        match &self.lane().phase {
            Phase::Run(effect) => Some(effect.clone()),
            Phase::Idle(_) => None,
        }
    }

    /// The key whose wait ends first.
    fn next_due(&self) -> Option<(Time, usize)> {
        let due = |(n, lane): (usize, &Lane<K>)| match lane.phase {
            Phase::Idle(Some(until)) => Some((until, n)),
            _ => None,
        };
        self.lanes.iter().enumerate().filter_map(due).min()
    }

    /// Between passes. Returns whether there is more to come.
    fn idle(&mut self) -> bool {
        self.act_until(0);
        K::others_act(self);
        self.deliver();
        if let Some(woken) = self.lanes.iter().position(Lane::is_woken) {
            self.start(woken);
            return true;
        }
        let due = self.next_due();
        if let Some(arrives) = self.next_delivery()
            && due.is_none_or(|(until, _)| arrives <= until)
        {
            self.advance(arrives);
            return true;
        }
        let overdue = self.disturbed + self.bound();
        let quiet = due.is_none_or(|(until, _)| until > overdue);
        if let Some(landing) = self.next_landing().filter(|_| quiet) {
            self.advance(landing);
            return true;
        }
        if quiet && let Some((_, op)) = self.ops.pop_front() {
            K::judge(self);
            self.act(&op);
            self.act_at_once();
            return true;
        }
        match due {
            Some((until, lane)) if !quiet => {
                self.advance(until);
                self.start(lane);
                true
            }
            _ => false,
        }
    }

    /// How long it may take to reach the desired state (I6).
    pub(super) fn bound(&self) -> Duration {
        let refused = if self.refused { K::RECHECK } else { Duration::ZERO };
        (TIMEOUT + GRACE) * 2 + RETRY_MAX + refused + Duration::from_secs(1)
    }

    /// After all is settled: nothing more is written or called, whatever time passes.
    fn stay_quiet(&mut self) {
        let before = (self.writes, self.rpcs);
        let end = self.now + K::RECHECK * 2;
        while self.effects.len() < ENDLESS {
            if let Some(effect) = self.next_effect() {
                self.perform(&effect);
                continue;
            }
            match self.next_due() {
                Some((until, lane)) if until < end => {
                    self.advance(until);
                    self.start(lane);
                }
                _ => break,
            }
        }
        if before != (self.writes, self.rpcs) && !self.never_ready {
            self.violate(Invariant::Progress, "it is not quiet after it settled".to_owned());
        }
    }

    fn perform(&mut self, effect: &EffectOf<K>) {
        let n = self.effects.len();
        self.act_until(2 * n);
        let target = K::target(effect);
        if let Some(pick) = self.dice.get(n) {
            let all = Fault::all(target, self.backend.kind, Depth::Every);
            self.plan.extend(all.get(usize::from(*pick)).map(|fault| (n, *fault)));
        }
        let fault = self.plan.iter().find(|(at, _)| *at == n).map(|(_, fault)| *fault);
        self.effects.push(effect.clone());
        self.log(|| format!("#{n} {effect:?}, fault {fault:?}"));
        if fault == Some(Fault::Crash(Crash::Before)) {
            return self.crash();
        }
        self.refused |= fault.is_some_and(|fault| fault.is_refusal(target));
        self.advance(self.now + Duration::from_millis(1));
        let event = K::execute(self, effect, fault);
        if fault.is_some() {
            self.disturbed = self.next_landing().unwrap_or(self.now).max(self.now);
        }
        if self.lag.is_none() {
            K::others_act(self);
        }
        self.act_until(2 * n + 1);
        if matches!(fault, Some(Fault::Crash(_))) {
            return self.crash();
        }
        self.feed(event);
    }

    /// One step of the machine whose turn it is, or what a seeded bug makes of it.
    fn feed(&mut self, event: EventOf<K>) {
        let event = K::corrupt(self, event);
        let view = self.present();
        let grace = if self.has(Mutant::NoGrace) { Duration::ZERO } else { GRACE };
        let settings = Settings { late_landing_grace: grace, ..self.settings };
        let predecessor_done =
            if self.has(Mutant::NoPredecessor) { Time::default() } else { self.lane().predecessor_done };
        let ctx = Context {
            now: self.now,
            settings: &settings,
            jitter: 1.0,
            by_name_missing: self.by_name_missing,
            predecessor_done,
            may_act: true,
        };
        let effect = self.lane_mut().state.step(view.as_ref(), event, &ctx).unwrap();
        let effect = K::divert(self, effect);
        let phase = match effect.ends_pass() {
            Some(Rest::Until(until)) => Phase::Idle(Some(until)),
            Some(Rest::UntilWoken) => Phase::Idle(None),
            None => Phase::Run(effect),
        };
        if matches!(phase, Phase::Idle(_)) {
            self.log(|| format!("{phase:?}"));
        }
        if phase == Phase::Idle(None) && self.lane().state.is_empty() {
            self.lane_mut().state = K::Machine::default();
        }
        self.lane_mut().phase = phase;
    }

    fn start(&mut self, lane: usize) {
        self.turn = lane;
        let wake = std::mem::take(&mut self.lane_mut().wake);
        self.log(|| format!("start {lane}: {wake:?}"));
        self.feed(wake.into());
    }

    /// The process dies; another one lists and starts.
    fn crash(&mut self) {
        self.log(|| "crash".to_owned());
        K::crashes(self);
        for running in &mut self.backend.running {
            running.crashes += 1;
        }
        self.predecessor_done = self.now + TIMEOUT + GRACE;
        let view = self.api.view();
        self.lanes.clear();
        self.turn = 0;
        if let Some(key) = K::key(view.as_deref()) {
            let mut lane = Lane::new(key, self.predecessor_done);
            lane.index = view;
            lane.seen = self.api.version;
            lane.wake = Wake::CHANGED.and(Wake::CONNECTED);
            self.lanes.push(lane);
        }
        self.api.events.clear();
        self.by_name_missing = false;
        // Its successor can't know of what was acknowledged, and may replay.
        self.acknowledged.clear();
        self.saw_unknown.clear();
        self.disturbed = self.next_landing().unwrap_or(self.now).max(self.now);
    }

    /// The watch delivers what is due.
    pub(super) fn deliver(&mut self) {
        let lag = self.lag.unwrap_or_default();
        while let Some(event) = self.api.events.pop_front_if(|e| e.at + lag <= self.now) {
            let key = K::key(event.view.as_deref());
            if let Some(key) = key.filter(|key| !self.lanes.iter().any(|lane| lane.key == *key)) {
                self.lanes.push(Lane::new(key, Time::default()));
            }
            for lane in &mut self.lanes {
                lane.see(event.version, event.view.as_ref());
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

    /// What a read or an own write returned.
    pub(crate) fn fold(&mut self, version: u64, view: Option<Arc<K::View>>) {
        self.lane_mut().fold(version, view);
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

    /// Somebody does something. It may end the wait after a refusal at once (R11).
    fn act(&mut self, op: &K::Op) {
        self.log(|| format!("user: {op:?}"));
        self.api.now = self.now;
        self.disturbed = self.now;
        self.refused &= !K::interrupts(self, op);
        K::act(self, op);
        if self.lag.is_none() {
            K::others_act(self);
            self.deliver();
        }
    }

    /// The object as the machine is shown it.
    pub(crate) fn present(&self) -> Option<Arc<K::View>> {
        Some(K::distort(self, self.lane().index.clone()?))
    }
}
