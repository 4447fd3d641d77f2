//! Workers: each takes a name, carries out its pass effect by effect, and gives it back.

use std::sync::Arc;

use cosi_lifecycle::{Context, Impossible, Machine, Request as _, Rest, Settings, Wake};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Effects;
use super::queue::{Next, Queue, Taken};
use crate::cluster::{Key, Label};
use crate::environment::Env;
use crate::lease::Tenure;

/// The shell and the lifecycle disagree: a defect of this program.
#[derive(Debug, thiserror::Error)]
#[error("this is a defect of the sidecar, please report it: {label}")]
pub struct Defect {
    label: Label,
    source: Impossible,
}

/// What all workers of one kind share.
pub struct Workers<E: Effects> {
    /// The queue of objects.
    pub queue: Arc<Queue<Key, E::Machine>>,
    /// What carries out effects.
    pub effects: E,
    /// The lifecycle's tunables.
    pub settings: Settings,
    /// Cancelled when no new work is to be begun.
    pub stopping: CancellationToken,
    /// Until when this process may act.
    pub tenure: Tenure,
    /// The clock, and chance.
    pub env: Env,
}

impl<E: Effects> Workers<E> {
    /// Starts `size` workers in `pool`.
    pub fn start(self: &Arc<Self>, size: u16, pool: &mut JoinSet<Result<(), Defect>>) {
        for _ in 0..size {
            let workers = Arc::clone(self);
            pool.spawn(async move { workers.work().await });
        }
    }

    /// One worker: works until told to stop.
    ///
    /// # Errors
    ///
    /// [`Defect`] ends the process; nothing is known to be right any more.
    pub async fn work(&self) -> Result<(), Defect> {
        loop {
            let taken = tokio::select! {
                biased;
                () = self.stopping.cancelled() => return Ok(()),
                taken = self.queue.take() => taken,
            };
            let Taken { key, mut state, wake } = taken;
            let next = self.pass(&key, &mut state, wake).await;
            let next = next.map_err(|source| Defect { label: self.effects.label(&key), source })?;
            self.queue.put(key, state, next);
        }
    }

    async fn pass(&self, key: &Key, state: &mut E::Machine, wake: Wake) -> Result<Next, Impossible> {
        let mut event = wake.into();
        loop {
            let view = self.effects.view(key);
            let context = self.context(key);
            let effect = state.step(view.as_ref(), event, &context)?;
            if tracing::enabled!(tracing::Level::TRACE) {
                let label = self.effects.label(key);
                tracing::trace!(bucket = label.bucket(), access = label.access(), ?effect, "next");
            }
            let next = match effect.ends_pass() {
                Some(Rest::Until(until)) => Next::At(until),
                Some(Rest::UntilWoken) if state.is_empty() => Next::Forget,
                _ => Next::Idle,
            };
            // The next process finds what is there. What a gone object left, only this one knows (R12). Without the lease, the
            // machine itself begins nothing but what must be.
            let is_found_again = view.is_some() && effect.begins_something();
            if context.may_act && self.stopping.is_cancelled() && is_found_again {
                return Ok(Next::Idle);
            }
            match self.effects.run(key, effect).await {
                Some(result) => event = result,
                None => return Ok(next),
            }
        }
    }

    fn context(&self, key: &Key) -> Context<'_> {
        Context {
            now: self.env.now(),
            settings: &self.settings,
            jitter: fraction(self.env.random()),
            by_name_missing: self.effects.by_name_missing(),
            predecessor_done: self.effects.predecessor_done(key),
            may_act: self.tenure.may_act(),
        }
    }
}

/// From nothing to nearly one.
fn fraction(random: u64) -> f64 {
    f64::from((random >> 32) as u32) / (f64::from(u32::MAX) + 1.0)
}
