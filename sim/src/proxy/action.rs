//! What a rule does to a request.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::refusal::Refusal;
use super::request::Request;
use crate::rule::Shared;

type Callback = Arc<dyn Fn(Request) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

#[derive(Clone)]
pub(super) enum Pause {
    For(Duration),
    UntilReleased,
    Forever,
    While(Callback),
}

impl Pause {
    pub(super) async fn pass(&self, request: &Request, rule: &Shared<Request>) {
        match self {
            Self::For(duration) => tokio::time::sleep(*duration).await,
            Self::UntilReleased => rule.released().await,
            Self::Forever => std::future::pending().await,
            Self::While(callback) => callback(request.clone()).await,
        }
    }
}

#[derive(Clone, Default)]
pub(super) enum Fate {
    #[default]
    Forward,
    Refuse(Refusal),
    Cut,
}

/// What happens to a request: pauses, then forwarded or refused or cut, then pauses, then the answer (or its loss).
///
/// A request that waits here is carried on even when its client has given up, as a real network would.
#[derive(Clone, Default)]
pub struct Action {
    pub(super) before: Vec<Pause>,
    pub(super) fate: Fate,
    pub(super) after: Vec<Pause>,
    pub(super) lose_answer: bool,
}

impl Action {
    /// Forward and answer as if there were no rule: to chain pauses on, or only to count and wait.
    #[must_use]
    pub fn forward() -> Self {
        Self::default()
    }

    /// The connection ends without an answer and the API server never hears of the request.
    #[must_use]
    pub fn cut() -> Self {
        Self { fate: Fate::Cut, ..Self::default() }
    }

    /// The proxy answers instead of the API server, which never hears of the request.
    #[must_use]
    pub fn refuse(refusal: Refusal) -> Self {
        Self { fate: Fate::Refuse(refusal), ..Self::default() }
    }

    /// As [`Action::refuse`], with the usual `Status` for that HTTP status code.
    #[must_use]
    pub fn status(code: u16) -> Self {
        Self::refuse(Refusal::new(code))
    }

    /// The API server does it, and then the connection ends without an answer.
    #[must_use]
    pub fn lose_answer() -> Self {
        Self { lose_answer: true, ..Self::default() }
    }

    /// Waits, then forwards.
    #[must_use]
    pub fn delay(duration: Duration) -> Self {
        Self { before: vec![Pause::For(duration)], ..Self::default() }
    }

    /// The API server does it at once; its answer comes this much later.
    #[must_use]
    pub fn delay_answer(duration: Duration) -> Self {
        Self { after: vec![Pause::For(duration)], ..Self::default() }
    }

    /// Waits for [`Rule::release`](crate::Rule::release), then forwards.
    #[must_use]
    pub fn hold() -> Self {
        Self { before: vec![Pause::UntilReleased], ..Self::default() }
    }

    /// The API server does it at once; its answer waits for [`Rule::release`](crate::Rule::release).
    #[must_use]
    pub fn hold_answer() -> Self {
        Self { after: vec![Pause::UntilReleased], ..Self::default() }
    }

    /// Neither forwarded nor answered, ever.
    #[must_use]
    pub fn hang() -> Self {
        Self { before: vec![Pause::Forever], ..Self::default() }
    }

    /// The API server does it, and no answer ever comes.
    #[must_use]
    pub fn hang_answer() -> Self {
        Self { after: vec![Pause::Forever], ..Self::default() }
    }

    /// Runs the closure before the request is forwarded (or refused, or cut).
    #[must_use]
    pub fn before<F: Future<Output = ()> + Send + 'static>(
        mut self,
        callback: impl Fn(Request) -> F + Send + Sync + 'static,
    ) -> Self {
        self.before.push(Pause::While(Arc::new(move |request| Box::pin(callback(request)))));
        self
    }

    /// Runs the closure when the API server has done it, before its answer is passed on (or lost).
    #[must_use]
    pub fn after<F: Future<Output = ()> + Send + 'static>(
        mut self,
        callback: impl Fn(Request) -> F + Send + Sync + 'static,
    ) -> Self {
        self.after.push(Pause::While(Arc::new(move |request| Box::pin(callback(request)))));
        self
    }

    /// The answer is lost after everything else.
    #[must_use]
    pub fn then_lose_answer(mut self) -> Self {
        self.lose_answer = true;
        self
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fate = match &self.fate {
            Fate::Forward if self.lose_answer => "forward and lose the answer".to_owned(),
            Fate::Forward => "forward".to_owned(),
            Fate::Refuse(refusal) => format!("refuse with {}", refusal.code()),
            Fate::Cut => "cut".to_owned(),
        };
        write!(f, "Action({} pauses, {fate}, {} pauses)", self.before.len(), self.after.len())
    }
}
