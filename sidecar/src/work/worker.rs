//! Workers: each takes a name, carries out its pass effect by effect, and gives it back.

use std::sync::Arc;

use cosi_lifecycle::bucket::{BucketState, Event};
use cosi_lifecycle::{Context, Impossible, Machine as _, Request as _, Rest, Settings, Time, Wake};
use tokio_util::sync::CancellationToken;

use super::Effects;
use super::queue::{Next, Queue, Taken};
use crate::clock;

/// The shell and the lifecycle disagree: a defect of this program.
#[derive(Debug, thiserror::Error)]
#[error("this is a defect of the sidecar, please report it: Bucket {name}")]
pub struct Defect {
    name: Arc<str>,
    source: Impossible,
}

/// What all workers share.
pub struct Workers {
    /// The queue of Buckets.
    pub queue: Arc<Queue<Arc<str>, BucketState>>,
    /// What effects act upon.
    pub effects: Effects,
    /// The lifecycle's tunables.
    pub settings: Settings,
    /// When a predecessor's calls have certainly ended (R3).
    pub predecessor_done: Time,
    /// Cancelled when no new work is to be begun.
    pub stopping: CancellationToken,
}

impl Workers {
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
            let next = next.map_err(|source| Defect { name: Arc::clone(&key), source })?;
            self.queue.put(key, state, next);
        }
    }

    async fn pass(&self, name: &Arc<str>, state: &mut BucketState, wake: Wake) -> Result<Next, Impossible> {
        let mut event = Event::from(wake);
        loop {
            let view = self.effects.index.get(name);
            let effect = state.step(view.as_ref(), event, &self.context())?;
            tracing::trace!(bucket = %name, ?effect, "next");
            let next = match effect.ends_pass() {
                Some(Rest::Until(until)) => Next::At(until),
                Some(Rest::UntilWoken) if state.is_empty() => Next::Forget,
                _ => Next::Idle,
            };
            if self.stopping.is_cancelled() && effect.begins_something() {
                return Ok(Next::Idle);
            }
            match self.effects.run(name, effect).await {
                Some(result) => event = result,
                None => return Ok(next),
            }
        }
    }

    fn context(&self) -> Context<'_> {
        Context {
            now: clock::now(),
            settings: &self.settings,
            jitter: rand::random(),
            by_name_missing: self.effects.driver.by_name_missing(),
            predecessor_done: self.predecessor_done,
        }
    }
}
