//! Electors on machines of their own, each with its own clock, and one Lease.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use super::super::{
    Effect, Election, Event, Found, Moment, Stamp, Standing, Term, Unreadable, Write, Written,
};
use super::foreign::Foreign;
use super::{ms, terms};
use crate::Time;

/// A seeded bug, at the seam between an elector and its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bug {
    /// A term counts from when the renewal was answered.
    FromTheAnswer,
    /// A term is made longer by a renewal of which nobody knows whether it was done.
    HopedFor,
    /// The holder's wall clock is compared with the own one.
    WallClocks,
    /// The Lease is written whatever became of it.
    Unconditioned,
    /// The Lease is taken before its time.
    Impatient,
}

/// What an elector is about.
enum Doing {
    Waiting(Time),
    /// A request ends then, like this.
    Asking {
        until: Duration,
        event: Event,
    },
    /// Its machine is dead until then, and then a new one starts.
    Dead(Duration),
}

enum Mind {
    Ours(Election),
    Foreign(Foreign),
}

struct Elector {
    mind: Mind,
    doing: Doing,
    /// What its clock shows at the world's beginning.
    offset: Duration,
    /// What its wall clock shows is anything.
    wall: i64,
    /// When the write was sent that was answered last; by its own clock.
    sent: Time,
    /// The machine is stopped until then.
    paused: Duration,
    /// What a watch will tell, and when; none if there is no watch.
    news: Option<VecDeque<(Duration, Option<Found>)>>,
    /// By the world's clock: until when nobody else may lead.
    end: Option<Duration>,
}

/// Everything.
pub(super) struct World {
    now: Duration,
    lease: Option<Found>,
    version: u64,
    electors: Vec<Elector>,
    landing: Vec<(Duration, Write)>,
    dice: VecDeque<u16>,
    bug: Option<Bug>,
    names: u32,
    log: String,
}

/// Two leaders at a time, or none for too long; and what led there.
#[derive(Debug)]
pub(super) struct Violation(pub(super) String);

impl World {
    /// Each elector: what its clock shows, whether it is foreign, whether its watch works. `dice` say what goes wrong.
    pub(super) fn new(electors: &[(u32, bool, bool)], dice: &[u16], bug: Option<Bug>) -> Self {
        let mut world = Self {
            now: Duration::ZERO,
            lease: None,
            version: 0,
            electors: Vec::new(),
            landing: Vec::new(),
            dice: dice.iter().copied().collect(),
            bug,
            names: 0,
            log: String::new(),
        };
        for (offset, foreign, watches) in electors {
            let mind = world.born(*foreign);
            world.electors.push(Elector {
                mind,
                doing: Doing::Dead(Duration::ZERO),
                offset: ms(u64::from(*offset)),
                wall: i64::from(*offset) * 7919,
                sent: Time::default(),
                paused: Duration::ZERO,
                news: (*watches && !foreign).then(VecDeque::new),
                end: None,
            });
        }
        world
    }

    fn born(&mut self, foreign: bool) -> Mind {
        self.names += 1;
        let name = format!("e{}", self.names);
        if foreign {
            Mind::Foreign(Foreign::new(&name, terms()))
        } else {
            Mind::Ours(Election::new(&name, terms()))
        }
    }

    /// Lives while anything goes wrong, and until somebody must lead after that.
    pub(super) fn live(mut self) -> Result<(), Violation> {
        let mut calm_since = None;
        for _ in 0..20_000 {
            if self.dice.is_empty() && self.landing.is_empty() {
                let calm = *calm_since.get_or_insert(self.now);
                // A pause, a restart, a lease that a dead one took, and one more that a late write took.
                if self.now > calm + ms(5000) + 3 * terms().duration() {
                    return self.somebody_leads();
                }
            }
            self.advance()?;
        }
        Err(Violation(format!("it never comes to rest\n{}", self.log)))
    }

    fn somebody_leads(self) -> Result<(), Violation> {
        let leads = |elector: &Elector| elector.end.is_some_and(|end| end > self.now);
        if self.electors.iter().any(leads) {
            Ok(())
        } else {
            Err(Violation(format!("nobody leads\n{}", self.log)))
        }
    }

    /// The next thing that happens.
    fn advance(&mut self) -> Result<(), Violation> {
        let landing = self.landing.iter().map(|(at, _)| *at).min();
        let next = (0..self.electors.len()).map(|n| (self.due(n), n)).min();
        match (landing, next) {
            (Some(at), other) if other.is_none_or(|(due, _)| at <= due) => {
                self.now = self.now.max(at);
                if let Some(which) = self.landing.iter().position(|(due, _)| *due == at) {
                    let (_, write) = self.landing.remove(which);
                    self.apply(&write);
                }
                Ok(())
            }
            (_, Some((due, n))) => {
                self.now = self.now.max(due);
                self.act(n)
            }
            _ => Err(Violation("nothing happens any more".to_owned())),
        }
    }

    /// When an elector does something next, by the world's clock.
    fn due(&self, n: usize) -> Duration {
        let elector = &self.electors[n];
        let due = match &elector.doing {
            Doing::Waiting(until) => {
                let timer = until.since_origin().saturating_sub(elector.offset);
                let news = elector.news.as_ref().and_then(|news| news.front()).map(|(at, _)| *at);
                news.map_or(timer, |news| news.min(timer))
            }
            Doing::Asking { until, .. } | Doing::Dead(until) => *until,
        };
        due.max(elector.paused)
    }

    fn act(&mut self, n: usize) -> Result<(), Violation> {
        let now = self.now;
        let elector = &mut self.electors[n];
        let doing = std::mem::replace(&mut elector.doing, Doing::Dead(now));
        let event = match doing {
            Doing::Waiting(_) => match elector.news.as_mut() {
                Some(news) if news.front().is_some_and(|(at, _)| *at <= now) => {
                    Event::Seen(news.pop_front().unwrap().1)
                }
                _ => Event::Timer,
            },
            Doing::Asking { event, .. } => event,
            Doing::Dead(_) => {
                let foreign = matches!(elector.mind, Mind::Foreign(_));
                let mind = self.born(foreign);
                self.electors[n].mind = mind;
                Event::Start
            }
        };
        self.feed(n, event)
    }

    fn moment(&self, n: usize) -> Moment {
        let elector = &self.electors[n];
        // Wall clocks run backwards here, for all that anybody may care.
        let wall = elector.wall - i64::try_from(self.now.as_micros()).unwrap() * 3;
        Moment { now: Time::at(self.now + elector.offset), wall: Stamp::of_micros(wall) }
    }

    fn feed(&mut self, n: usize, event: Event) -> Result<(), Violation> {
        let mut at = self.moment(n);
        let answered = matches!(event, Event::Wrote(Written::Done(_)));
        let _ = writeln!(self.log, "{:>6} #{n} {event:?}", self.now.as_millis());
        if self.bug == Some(Bug::Impatient) && matches!(event, Event::Timer) && !self.leads(n) {
            at.now = at.now + terms().duration();
        }
        let looks = matches!(&event, Event::Read(Ok(Some(found))) if self.looks_expired(found, at));
        let effect = match &mut self.electors[n].mind {
            Mind::Foreign(foreign) => foreign.step(event, at),
            Mind::Ours(election) => {
                let effect = election.step(event, at).unwrap();
                if looks && matches!(effect, Effect::Wait(_)) {
                    let later = Moment { now: at.now + terms().duration(), ..at };
                    election.step(Event::Timer, later).unwrap()
                } else {
                    effect
                }
            }
        };
        self.believe(n, answered)?;
        let _ = writeln!(self.log, "{:>6} #{n}   {effect:?}", self.now.as_millis());
        self.begin(n, effect);
        Ok(())
    }

    fn looks_expired(&self, found: &Found, at: Moment) -> bool {
        let renewed = found.record.renewed.map_or(0, Stamp::micros);
        self.bug == Some(Bug::WallClocks) && renewed + 2_000_000 < at.wall.micros()
    }

    fn leads(&self, n: usize) -> bool {
        self.term(n).is_some()
    }

    fn term(&self, n: usize) -> Option<Term> {
        match &self.electors[n].mind {
            Mind::Foreign(foreign) => foreign.term,
            Mind::Ours(election) => match election.standing() {
                Standing::Leading(term) => Some(term),
                Standing::Candidate { .. } | Standing::Over => None,
            },
        }
    }

    /// What the elector believes now; nobody else may believe the same.
    fn believe(&mut self, n: usize, answered: bool) -> Result<(), Violation> {
        let own = self.moment(n).now;
        let elector = &self.electors[n];
        let late =
            if self.bug == Some(Bug::FromTheAnswer) { elector.sent.until(own) } else { Duration::ZERO };
        let end = self.term(n).map(|term| term.end.since_origin().saturating_sub(elector.offset));
        let end = match end {
            Some(end) if answered => Some(end + late),
            Some(end) => Some(elector.end.unwrap_or(end).max(end)),
            None => None,
        };
        self.electors[n].end = end;
        let leaders: Vec<_> = (0..self.electors.len())
            .filter(|n| self.electors[*n].end.is_some_and(|end| end > self.now))
            .collect();
        if leaders.len() > 1 {
            return Err(Violation(format!("{leaders:?} lead at {:?}\n{}", self.now, self.log)));
        }
        Ok(())
    }

    fn throw(&mut self) -> u16 {
        self.dice.pop_front().unwrap_or(u16::MAX)
    }

    /// An elector begins something, and something may go wrong about it.
    fn begin(&mut self, n: usize, effect: Effect) {
        let (kind, amount) = match self.throw() {
            u16::MAX => (99, ms(0)),
            dice => (dice % 12, ms(u64::from(dice / 12))),
        };
        match kind {
            0 => self.electors[n].paused = self.now + amount,
            1 => return self.die(n, amount),
            2 if matches!(effect, Effect::Wait(_)) => {
                let resigns = matches!(&self.electors[n].mind, Mind::Ours(_));
                if resigns {
                    self.electors[n].doing = Doing::Asking { until: self.now, event: Event::Stop };
                    return;
                }
            }
            _ => {}
        }
        self.electors[n].doing = match effect {
            Effect::Wait(until) => Doing::Waiting(self.wake(n, until)),
            Effect::Read { by } => {
                let by = self.here(n, by);
                let until = (self.now + ms(1) + if kind == 4 { amount } else { ms(0) }).min(by);
                let read = if until < by && kind != 3 { Ok(self.lease.clone()) } else { Err(Unreadable) };
                Doing::Asking { until, event: Event::Read(read) }
            }
            Effect::Write { write, by } => self.send(n, write, by, kind, amount),
            Effect::End(_) => Doing::Dead(self.now + ms(200)),
        };
    }

    /// Without a watch, a wait is never longer than the retry period.
    fn wake(&self, n: usize, until: Time) -> Time {
        let elector = &self.electors[n];
        let blind = matches!(elector.mind, Mind::Ours(_)) && elector.news.is_none();
        if blind { until.min(self.moment(n).now + terms().retry()) } else { until }
    }

    fn here(&self, n: usize, time: Time) -> Duration {
        time.since_origin().saturating_sub(self.electors[n].offset)
    }

    fn die(&mut self, n: usize, amount: Duration) {
        let _ = writeln!(self.log, "{:>6} #{n} dies", self.now.as_millis());
        self.electors[n].end = None;
        self.electors[n].doing = Doing::Dead(self.now + amount);
        if let Some(news) = &mut self.electors[n].news {
            news.clear();
        }
    }

    fn send(&mut self, n: usize, write: Write, by: Time, kind: u16, amount: Duration) -> Doing {
        self.electors[n].sent = self.moment(n).now;
        let by = self.here(n, by);
        let unknown = |event| Doing::Asking { until: by, event };
        let written = match kind {
            // The request is lost; or its answer; or it lands long after everybody gave it up.
            5 => Written::Unknown,
            6 => {
                self.apply(&write);
                Written::Unknown
            }
            7 => {
                self.landing.push((self.now + amount, write.clone()));
                Written::Unknown
            }
            _ => {
                let written = self.apply(&write);
                let until = self.now + ms(1) + if kind == 8 { amount } else { ms(0) };
                if until < by {
                    return Doing::Asking { until, event: Event::Wrote(written) };
                }
                Written::Unknown
            }
        };
        match (self.bug, write) {
            (Some(Bug::HopedFor), Write::Update { version, record }) if self.leads(n) => {
                unknown(Event::Wrote(Written::Done(Found { record, version })))
            }
            _ => unknown(Event::Wrote(written)),
        }
    }

    /// The API server does what it does.
    fn apply(&mut self, write: &Write) -> Written {
        let record = match (write, &self.lease) {
            (Write::Create(_), Some(_)) => return Written::Conflict,
            (Write::Update { .. }, None) => return Written::NotFound,
            (Write::Update { version, .. }, Some(lease))
                if lease.version != *version && self.bug != Some(Bug::Unconditioned) =>
            {
                return Written::Conflict;
            }
            (Write::Create(record) | Write::Update { record, .. }, _) => record.clone(),
        };
        self.version += 1;
        let found = Found { record, version: self.version.to_string().into() };
        let _ = writeln!(self.log, "{:>6} written: {found:?}", self.now.as_millis());
        self.lease = Some(found.clone());
        for n in 0..self.electors.len() {
            let lag = ms(u64::from(self.dice.front().map_or(1, |dice| dice % 700)));
            if let Some(news) = &mut self.electors[n].news {
                let after = news.back().map_or(self.now + lag, |(at, _)| (*at).max(self.now + lag));
                news.push_back((after, Some(found.clone())));
            }
        }
        Written::Done(found)
    }
}
