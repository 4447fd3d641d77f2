//! An elector as others write it, client-go's above all: it looks once per retry period, and watches nothing.

use super::super::{Effect, Event, Found, Moment, Record, Term, Terms, Write, Written};
use crate::Time;

pub(super) struct Foreign {
    me: Box<str>,
    terms: Terms,
    seen: Option<(Record, Time)>,
    sent: Time,
    pub(super) term: Option<Term>,
}

impl Foreign {
    pub(super) fn new(me: &str, terms: Terms) -> Self {
        Self { me: me.into(), terms, seen: None, sent: Time::default(), term: None }
    }

    pub(super) fn step(&mut self, event: Event, at: Moment) -> Effect {
        if self.term.is_some_and(|term| at.now >= term.act_until) {
            self.term = None;
        }
        match event {
            Event::Read(Ok(found)) => self.decide(found, at),
            Event::Wrote(Written::Done(found)) => {
                self.seen = Some((found.record, at.now));
                let (act_until, end) = (self.sent + self.terms.deadline(), self.sent + self.terms.duration());
                self.term = (at.now < act_until).then_some(Term { since: at.now, act_until, end });
                Effect::Wait(at.now + self.terms.retry())
            }
            Event::Start | Event::Timer => Effect::Read { by: at.now + self.terms.retry() },
            _ => Effect::Wait(at.now + self.terms.retry()),
        }
    }

    fn decide(&mut self, found: Option<Found>, at: Moment) -> Effect {
        let seconds = i32::try_from(self.terms.duration().as_secs()).unwrap();
        let record = Record {
            holder: self.me.clone(),
            seconds,
            acquired: Some(at.wall),
            renewed: Some(at.wall),
            transitions: 0,
        };
        let by = at.now + self.terms.retry();
        let write = match found {
            None => Write::Create(record),
            Some(found) => {
                if self.seen.as_ref().is_none_or(|(seen, _)| *seen != found.record) {
                    self.seen = Some((found.record.clone(), at.now));
                }
                let since = self.seen.as_ref().map_or(at.now, |(_, since)| *since);
                let patience =
                    std::time::Duration::from_secs(u64::try_from(found.record.seconds).unwrap_or(0));
                let free = found.record.holder.is_empty() || at.now >= since + patience;
                if found.record.holder != self.me {
                    // Whoever reads that it is somebody else's is no leader any more.
                    self.term = None;
                    if !free {
                        return Effect::Wait(at.now + self.terms.retry());
                    }
                }
                Write::Update { version: found.version, record }
            }
        };
        self.sent = at.now;
        Effect::Write { write, by }
    }
}
