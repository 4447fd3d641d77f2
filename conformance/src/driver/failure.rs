//! A call that was not answered OK.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use tonic::{Code, Status};

/// How much of a driver's message is shown.
const SHOWN: usize = 300;

/// A call that was not answered OK.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) rpc: &'static str,
    pub(crate) kind: Kind,
}

/// Whether the driver said something, or nothing.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// The driver's own words.
    Answered { code: Code, message: String, details: usize },
    /// The deadline passed, or the connection broke: what became of the call is not known.
    NoAnswer { why: String, after: Duration },
}

impl Failure {
    pub(crate) fn new(rpc: &'static str, status: &Status, after: Duration) -> Self {
        // What the client library made itself has a source; what came over the wire has none.
        let kind = match status.source() {
            Some(_) => Kind::NoAnswer { why: status.message().to_owned(), after },
            None => Kind::Answered {
                code: status.code(),
                message: status.message().to_owned(),
                details: status.details().len(),
            },
        };
        Self { rpc, kind }
    }

    /// The code, if the driver answered.
    pub(crate) fn code(&self) -> Option<Code> {
        match self.kind {
            Kind::Answered { code, .. } => Some(code),
            Kind::NoAnswer { .. } => None,
        }
    }

    pub(crate) fn is(&self, code: Code) -> bool {
        self.code() == Some(code)
    }

    /// Whether the driver says that it will do nothing more for this call (COSI-ERR-10).
    pub(crate) fn is_refusal(&self) -> bool {
        let Some(code) = self.code() else { return false };
        matches!(
            code,
            Code::InvalidArgument
                | Code::AlreadyExists
                | Code::Unimplemented
                | Code::NotFound
                | Code::PermissionDenied
                | Code::Unauthenticated
                | Code::FailedPrecondition
                | Code::OutOfRange
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Answered { code, message, .. } => {
                write!(f, "{} answered {}: \"{}\"", self.rpc, name(*code), cut(message))
            }
            Kind::NoAnswer { why, after } => {
                write!(f, "{} was not answered; after {:.1} s: {}", self.rpc, after.as_secs_f32(), cut(why))
            }
        }
    }
}

/// One line, not too long.
fn cut(text: &str) -> String {
    let line: String = text.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > SHOWN { format!("{line}…") } else { line }
}

/// The code as the protocol's documents write it.
pub(crate) fn name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_said_is_told_from_what_the_client_made_up() {
        let said = Failure::new("Rpc", &Status::cancelled("Timeout expired"), Duration::ZERO);
        assert_eq!(said.code(), Some(Code::Cancelled));
        let made_up = Status::from_error(Box::new(tonic::TimeoutExpired(())));
        assert_eq!(Failure::new("Rpc", &made_up, Duration::ZERO).code(), None);
    }

    /// C30.
    #[test]
    fn odd_and_endless_messages_stay_one_short_line() {
        let failure =
            Failure::new("Rpc", &Status::internal(format!("a\nb{}", "ü".repeat(5000))), Duration::ZERO);
        let text = failure.to_string();
        assert!(text.starts_with("Rpc answered INTERNAL: \"a bü") && text.ends_with("…\""), "{text}");
        assert!(text.chars().count() < SHOWN + 50 && !text.contains('\n'));
    }
}
