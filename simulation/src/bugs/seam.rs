//! Between the machine and its shell.

use std::sync::Arc;
use std::time::Duration;

use cosi_lifecycle::{Code, Context, Failure, Impossible, Machine, Time};

use super::{Bug, STARTED, is};
use crate::settings::{GRACE, TIMEOUT};

/// A machine with the run's bug, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Bugged<M: Seam> {
    machine: M,
    memory: M::Memory,
}

/// Where bugs of one kind of machine sit.
pub(crate) trait Seam: Machine {
    /// Whether it looks at nothing again that is as it should be.
    const RESTS: bool;

    /// What bugs need to remember.
    type Memory: Default;

    /// The object as a bug shows it; `None`: as it is.
    fn distort(view: Option<&Arc<Self::View>>, memory: &Self::Memory) -> Option<Arc<Self::View>>;

    /// What a bug makes of an event, and of the machine's memory.
    fn corrupt(
        &mut self,
        view: Option<&Arc<Self::View>>,
        event: Self::Event,
        memory: &mut Self::Memory,
    ) -> Self::Event;

    /// What a bug tells the machine instead of running the effect.
    fn lie(
        view: Option<&Arc<Self::View>>,
        effect: &Self::Effect,
        memory: &mut Self::Memory,
    ) -> Option<Self::Event>;

    /// What a bug makes of an effect that is run.
    fn divert(
        view: Option<&Arc<Self::View>>,
        effect: Self::Effect,
        memory: &mut Self::Memory,
    ) -> Self::Effect;
}

/// So many lies in a row are believed.
const CREDULITY: usize = 16;

impl<M: Seam> Machine for Bugged<M> {
    type View = M::View;
    type Event = M::Event;
    type Effect = M::Effect;

    fn step(
        &mut self,
        view: Option<&Arc<M::View>>,
        event: M::Event,
        ctx: &Context<'_>,
    ) -> Result<M::Effect, Impossible> {
        let mut settings = *ctx.settings;
        if is(Bug::NoGrace) {
            settings.late_landing_grace = Duration::ZERO;
        }
        if is(Bug::ReportEveryTry) && M::RESTS {
            settings.recheck_interval = settings.retry_interval_start;
        }
        let ctx = Context { settings: &settings, predecessor_done: predecessor_done(ctx), ..*ctx };
        let mut event = self.machine.corrupt(view, event, &mut self.memory);
        for _ in 0..CREDULITY {
            let distorted = M::distort(view, &self.memory);
            let shown = distorted.as_ref().or(view);
            let effect = self.machine.step(shown, event, &ctx)?;
            match M::lie(shown, &effect, &mut self.memory) {
                Some(lie) => event = lie,
                None => return Ok(M::divert(view, effect, &mut self.memory)),
            }
        }
        self.machine.step(view, event, &ctx)
    }

    fn is_empty(&self) -> bool {
        self.machine.is_empty()
    }

    fn follows_an_object(&self) -> bool {
        self.machine.follows_an_object()
    }
}

/// A cache that still shows an object as it was before its result was recorded ([`Bug::CreateFromStaleCache`]).
#[derive(Debug)]
pub(super) struct Stale<V> {
    kept: Option<Arc<V>>,
    /// The driver has acknowledged the deletion.
    pub(super) acknowledged: bool,
}

impl<V> Default for Stale<V> {
    fn default() -> Self {
        Self { kept: None, acknowledged: false }
    }
}

impl<V> Stale<V> {
    pub(super) fn keep(&mut self, view: &Arc<V>) {
        self.kept = Some(Arc::clone(view));
    }

    /// What the bug shows instead of what there is.
    pub(super) fn shown(&self) -> Option<Arc<V>> {
        self.kept.clone().filter(|_| self.acknowledged && is(Bug::CreateFromStaleCache))
    }
}

fn predecessor_done(ctx: &Context<'_>) -> Time {
    let done = ctx.predecessor_done;
    // The clock's origin says that there cannot have been any; that is no part of these bugs.
    if done == Time::default() {
        return done;
    }
    if is(Bug::NoPredecessor) {
        return Time::at(Duration::from_nanos(1));
    }
    if is(Bug::CountsFromStart) {
        return done.min(STARTED.get() + TIMEOUT + GRACE);
    }
    done
}

/// The failure, as a bug that takes it for a refusal has it.
pub(super) fn soften(failure: Failure) -> Failure {
    let refused = match &failure {
        Failure::Answered { code, .. } => is(Bug::InternalIsRefused) && *code == Code::Internal,
        Failure::NoAnswer { .. } => is(Bug::TimeoutIsRefused),
        Failure::NotSent { .. } => false,
    };
    if refused {
        return Failure::Answered { code: Code::FailedPrecondition, message: failure.message().to_owned() };
    }
    failure
}

/// The answer that lets an object go.
pub(super) fn refusal() -> Failure {
    Failure::Answered { code: Code::InvalidArgument, message: "by a seeded bug".to_owned() }
}
