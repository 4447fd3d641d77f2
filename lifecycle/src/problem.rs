//! What went wrong, as a person is told (R16).

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::{Code, Failure, Rpc, Time};

/// Longest error text that goes into `status.error`, in bytes. The API server would store 1.5 MiB; nobody would read it.
const LONGEST_TEXT: usize = 4096;

/// Two errors with the same key are the same error. Of a driver's errors the texts may differ: backends put request ids in
/// them. What we say ourselves tells a person what to do, so another text is another error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKey {
    /// The object cannot be worked on as it is.
    Object(TextId),
    /// A driver call failed; `None` if it could not be sent.
    Call(Rpc, Option<Code>),
    /// A driver answered OK with unusable content.
    Answer(Rpc),
    /// The API server refused to store a result.
    Recording,
    /// Something that the object needs is not there, or not as it should be: a Bucket that an access is to reach.
    Prerequisite(TextId),
    /// A Secret cannot be read or written, or is somebody else's.
    Secrets(TextId),
}

/// Tells texts apart without keeping them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextId(u64);

impl TextId {
    fn of(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// Something that keeps an object from its desired state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Which error it is.
    pub key: ProblemKey,
    /// The text for a person.
    pub text: String,
    /// Nothing will change until a person or the driver changes something.
    pub terminal: bool,
}

impl Problem {
    /// A failed driver call.
    pub(crate) fn call(rpc: Rpc, failure: &Failure) -> Self {
        let message = failure.message();
        let text = match failure {
            Failure::NotSent { .. } => format!("{rpc} waits for the driver: {message}"),
            Failure::NoAnswer { code, .. } => format!("{rpc} got no answer ({code}): {message}"),
            Failure::Answered { code: code @ Code::OutOfRange, .. } if failure.is_terminal(rpc) => format!(
                "{rpc} failed ({code}): {message}; this driver grants access to one bucket at a time, so make one \
                 BucketAccess for each"
            ),
            Failure::Answered { code, .. } => format!("{rpc} failed ({code}): {message}"),
        };
        Self::new(ProblemKey::Call(rpc, failure.code()), &text, failure.is_terminal(rpc))
    }

    /// An answer that cannot be used.
    pub(crate) fn answer(rpc: Rpc, why: impl fmt::Display) -> Self {
        Self::new(ProblemKey::Answer(rpc), &format!("{rpc} answered OK, but {why}"), true)
    }

    /// A result that the API server does not take.
    pub(crate) fn recording(why: &str) -> Self {
        Self::new(ProblemKey::Recording, &format!("the driver's answer cannot be recorded: {why}"), true)
    }

    /// Something that the object needs is not there, or not as it should be.
    pub(crate) fn prerequisite(why: &str) -> Self {
        Self::new(ProblemKey::Prerequisite(TextId::of(why)), why, true)
    }

    /// Secrets that cannot be read or written, or are somebody else's.
    pub(crate) fn secrets(why: &str, terminal: bool) -> Self {
        Self::new(ProblemKey::Secrets(TextId::of(why)), why, terminal)
    }

    /// An object that cannot be worked on.
    pub(crate) fn object(why: &str) -> Self {
        Self::new(ProblemKey::Object(TextId::of(why)), why, true)
    }

    fn new(key: ProblemKey, text: &str, terminal: bool) -> Self {
        Self { key, text: printable(text), terminal }
    }
}

/// The text without control characters and cut to a length that can be read (C30).
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(LONGEST_TEXT));
    for c in text.chars() {
        if out.len() + c.len_utf8() > LONGEST_TEXT {
            out.push('…');
            break;
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

/// What was reported of an object, so that an unchanged error is not written again with every try (R16, C23).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    pending: Option<Problem>,
    written: Option<(ProblemKey, Time)>,
}

impl Report {
    /// There is a problem. Returns whether it is another one than was last written.
    pub(crate) fn raise(&mut self, problem: Problem) -> bool {
        let news = self.written.map(|(key, _)| key) != Some(problem.key)
            && self.pending.as_ref().map(|p| p.key) != Some(problem.key);
        self.pending = Some(problem);
        news
    }

    /// Whether an error of a call of this RPC is known.
    pub(crate) fn is_about(&self, rpc: Rpc) -> bool {
        let keys = self.pending.iter().map(|p| p.key).chain(self.written.map(|(key, _)| key));
        keys.into_iter().any(|key| matches!(key, ProblemKey::Call(of, _) if of == rpc))
    }

    /// The problem to be written now, if one is due.
    pub(crate) fn due(&self, now: Time, refresh: std::time::Duration) -> Option<&Problem> {
        self.pending.as_ref().filter(|p| match self.written {
            Some((key, at)) => key != p.key || at + refresh <= now,
            None => true,
        })
    }

    /// The pending problem is now in the object's status, or can never get there.
    pub(crate) fn settled(&mut self, now: Time) {
        if let Some(problem) = self.pending.take() {
            self.written = Some((problem.key, now));
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.pending.is_none() && self.written.is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const REFRESH: Duration = Duration::from_mins(30);

    fn internal(message: &str) -> Problem {
        let failure = Failure::Answered { code: Code::Internal, message: message.into() };
        Problem::call(Rpc::CreateBucket, &failure)
    }

    #[test]
    fn an_unchanged_error_with_another_text_is_written_once_per_refresh() {
        let mut report = Report::default();
        let start = Time::default();
        assert!(report.raise(internal("request 1")));
        assert!(report.due(start, REFRESH).is_some());
        report.settled(start);
        assert!(!report.raise(internal("request 2")));
        assert_eq!(report.due(start + Duration::from_secs(1799), REFRESH), None);
        assert!(report.due(start + REFRESH, REFRESH).is_some());
    }

    #[test]
    fn what_is_known_of_a_call_can_be_asked_for() {
        let mut report = Report::default();
        assert!(!report.is_about(Rpc::CreateBucket));
        report.raise(internal("x"));
        assert!(report.is_about(Rpc::CreateBucket) && !report.is_about(Rpc::DeleteBucket));
        report.settled(Time::default());
        assert!(report.is_about(Rpc::CreateBucket));
    }

    #[test]
    fn another_code_is_news_at_once() {
        let mut report = Report::default();
        report.raise(internal("x"));
        report.settled(Time::default());
        let other = Failure::Answered { code: Code::Unavailable, message: "x".into() };
        assert!(report.raise(Problem::call(Rpc::CreateBucket, &other)));
        assert!(report.due(Time::default(), REFRESH).is_some());
    }

    #[test]
    fn what_a_person_is_to_do_is_never_out_of_date() {
        let mut report = Report::default();
        report.raise(Problem::prerequisite("Bucket a does not exist"));
        report.settled(Time::default());
        assert!(!report.raise(Problem::prerequisite("Bucket a does not exist")));
        report.settled(Time::default());
        assert!(report.raise(Problem::prerequisite("Bucket a has no status.bucketID yet")));
        assert!(report.due(Time::default(), REFRESH).is_some());
    }

    #[test]
    fn c30_control_characters_and_long_texts_become_readable() {
        let problem = internal(&format!("a\nb\u{0}c{}", "ü".repeat(10_000)));
        assert!(problem.text.contains("a b c"));
        assert!(problem.text.len() <= LONGEST_TEXT + '…'.len_utf8());
    }
}
