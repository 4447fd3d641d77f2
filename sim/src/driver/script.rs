//! What a rule makes the driver do instead of the right thing.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use cosi_proto::v1alpha2 as wire;
use tonic::Code;

use super::call::Call;
use crate::rule::Shared;

type Callback = Arc<dyn Fn(Call) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// What a test makes of a Grant's answer.
pub(super) type EditGrant = Arc<dyn Fn(&mut wire::DriverGrantBucketAccessResponse) + Send + Sync>;

#[derive(Clone)]
pub(super) enum Pause {
    For(Duration),
    UntilReleased,
    While(Callback),
}

impl Pause {
    pub(super) async fn pass(&self, call: &Call, rule: &Shared<Call>) {
        match self {
            Self::For(duration) => tokio::time::sleep(*duration).await,
            Self::UntilReleased => rule.released().await,
            Self::While(callback) => callback(call.clone()).await,
        }
    }
}

/// Whether and when the call changes the backend.
#[derive(Clone, Copy, Default)]
pub(super) enum Doing {
    #[default]
    Do,
    Not,
    Half,
    /// The answer doesn't wait for it, and it happens whatever becomes of call and driver: after this time, or on
    /// release if none is given.
    Later(Option<Duration>),
}

/// A correct answer made useless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nonsense {
    /// OK with an empty id.
    EmptyId,
    /// OK with this id, whatever the backend's is.
    Id(String),
    /// OK without any protocol's bucket info (Grant: without credentials).
    NoProtocolInfo,
    /// OK with the info of another protocol than was asked for.
    OtherProtocol,
    /// OK with the right protocol, its required fields empty.
    EmptyFields,
}

#[derive(Clone, Default)]
pub(super) enum Answering {
    #[default]
    Honest,
    Error(i32, String),
    Never,
    CutConnections,
    Crash,
    Nonsense(Nonsense),
    Edited(EditGrant),
}

/// What the driver does with a call: pauses, then changes the backend (or not, or half, or later), then pauses, then
/// answers (or not).
///
/// A call that waits here is carried on when its client has given up, as in many a real driver: only a crash ends it.
#[derive(Clone, Default)]
pub struct Step {
    pub(super) before: Vec<Pause>,
    pub(super) doing: Doing,
    pub(super) after: Vec<Pause>,
    pub(super) answering: Answering,
}

impl Step {
    fn new(doing: Doing, answering: Answering) -> Self {
        Self { doing, answering, ..Self::default() }
    }

    fn error(doing: Doing, code: impl Into<i32>) -> Self {
        let code = code.into();
        Self::new(doing, Answering::Error(code, format!("scripted error {code}")))
    }

    /// Does it and answers, as if there were no rule: to chain pauses on, or only to count and wait.
    #[must_use]
    pub fn honest() -> Self {
        Self::default()
    }

    /// Refuses before doing anything. Takes a [`Code`] or any number, above 16 too.
    #[must_use]
    pub fn fail(code: impl Into<i32>) -> Self {
        Self::error(Doing::Not, code)
    }

    /// Does it, and answers with an error.
    #[must_use]
    pub fn done_but(code: impl Into<i32>) -> Self {
        Self::error(Doing::Do, code)
    }

    /// Does half of it (a bucket is there, marked incomplete; of a delete: nothing), and answers with an error.
    #[must_use]
    pub fn half_done(code: impl Into<i32>) -> Self {
        Self::error(Doing::Half, code)
    }

    /// Answers with an error at once and does it this much later.
    #[must_use]
    pub fn fail_then_land(code: impl Into<i32>, after: Duration) -> Self {
        Self::error(Doing::Later(Some(after)), code)
    }

    /// Answers with an error at once and does it on [`Rule::release`](crate::Rule::release).
    #[must_use]
    pub fn fail_then_land_on_release(code: impl Into<i32>) -> Self {
        Self::error(Doing::Later(None), code)
    }

    /// Never answers, and does it this much later, deadline or not.
    #[must_use]
    pub fn hang_then_land(after: Duration) -> Self {
        Self::new(Doing::Later(Some(after)), Answering::Never)
    }

    /// Never answers, and does it on [`Rule::release`](crate::Rule::release), deadline or not.
    #[must_use]
    pub fn hang_then_land_on_release() -> Self {
        Self::new(Doing::Later(None), Answering::Never)
    }

    /// Neither does nor answers, ever.
    #[must_use]
    pub fn hang() -> Self {
        Self::new(Doing::Not, Answering::Never)
    }

    /// Does it and never answers.
    #[must_use]
    pub fn do_then_hang() -> Self {
        Self::new(Doing::Do, Answering::Never)
    }

    /// Waits for [`Rule::release`](crate::Rule::release), then does it and answers.
    #[must_use]
    pub fn hold() -> Self {
        Self { before: vec![Pause::UntilReleased], ..Self::default() }
    }

    /// Does it, and answers after [`Rule::release`](crate::Rule::release).
    #[must_use]
    pub fn do_then_hold() -> Self {
        Self { after: vec![Pause::UntilReleased], ..Self::default() }
    }

    /// Waits, then does it and answers.
    #[must_use]
    pub fn delay(duration: Duration) -> Self {
        Self { before: vec![Pause::For(duration)], ..Self::default() }
    }

    /// Breaks every connection without doing it; the driver lives on.
    #[must_use]
    pub fn cut() -> Self {
        Self::new(Doing::Not, Answering::CutConnections)
    }

    /// Does it and then breaks every connection; the driver lives on.
    #[must_use]
    pub fn do_then_cut() -> Self {
        Self::new(Doing::Do, Answering::CutConnections)
    }

    /// The driver is killed before doing it, as by [`ScriptedDriver::kill`](super::ScriptedDriver::kill).
    #[must_use]
    pub fn crash() -> Self {
        Self::new(Doing::Not, Answering::Crash)
    }

    /// The driver does it and is killed before it answers.
    #[must_use]
    pub fn do_then_crash() -> Self {
        Self::new(Doing::Do, Answering::Crash)
    }

    /// Does it, and answers OK with nonsense.
    #[must_use]
    pub fn nonsense(nonsense: Nonsense) -> Self {
        Self::new(Doing::Do, Answering::Nonsense(nonsense))
    }

    /// Does it, and changes the answer; for a Grant.
    #[must_use]
    pub fn edited(edit: impl Fn(&mut wire::DriverGrantBucketAccessResponse) + Send + Sync + 'static) -> Self {
        Self::new(Doing::Do, Answering::Edited(Arc::new(edit)))
    }

    /// The error's text; without effect on steps that don't answer with an error.
    #[must_use]
    pub fn message(mut self, text: impl Into<String>) -> Self {
        if let Answering::Error(_, message) = &mut self.answering {
            *message = text.into();
        }
        self
    }

    /// Runs the closure before anything is done.
    #[must_use]
    pub fn before<F: Future<Output = ()> + Send + 'static>(
        mut self,
        callback: impl Fn(Call) -> F + Send + Sync + 'static,
    ) -> Self {
        self.before.push(Pause::While(Arc::new(move |call| Box::pin(callback(call)))));
        self
    }

    /// Runs the closure after it is done, before the answer.
    #[must_use]
    pub fn after<F: Future<Output = ()> + Send + 'static>(
        mut self,
        callback: impl Fn(Call) -> F + Send + Sync + 'static,
    ) -> Self {
        self.after.push(Pause::While(Arc::new(move |call| Box::pin(callback(call)))));
        self
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let doing = match self.doing {
            Doing::Do => "do",
            Doing::Not => "do nothing",
            Doing::Half => "do half",
            Doing::Later(_) => "do later",
        };
        let answering = match &self.answering {
            Answering::Honest => "answer".to_owned(),
            Answering::Error(code, _) => format!("answer {:?}", Code::from_i32(*code)),
            Answering::Never => "never answer".to_owned(),
            Answering::CutConnections => "cut".to_owned(),
            Answering::Crash => "crash".to_owned(),
            Answering::Nonsense(nonsense) => format!("answer {nonsense:?}"),
            Answering::Edited(_) => "answer, edited".to_owned(),
        };
        write!(f, "Step({} pauses, {doing}, {} pauses, {answering})", self.before.len(), self.after.len())
    }
}
