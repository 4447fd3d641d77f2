//! Which gRPC code a failed call to the service becomes, and with it whether the sidecar tries again and how soon.

use aws_sdk_s3::{
    config::http::HttpResponse,
    error::{ProvideErrorMetadata, SdkError},
};
use cosi_driver_sdk::{DriverError, ErrorKind};

/// What the service's own codes stand for.
const CODES: [(ErrorKind, &[&str]); 9] = [
    // Only another request helps: the service finds something wrong with a name, a tag or a policy.
    (
        ErrorKind::InvalidArgument,
        &["InvalidBucketName", "InvalidTag", "InvalidInput", "ValidationError", "MalformedPolicyDocument"],
    ),
    (ErrorKind::AlreadyExists, &["BucketAlreadyExists", "BucketAlreadyOwnedByYou", "EntityAlreadyExists"]),
    // Nothing was done, and a person must do something: empty it, detach what was added by hand, set the region right, use
    // a service that offers the call. Not UNIMPLEMENTED: that would say that the driver has no such RPC.
    (
        ErrorKind::FailedPrecondition,
        &[
            "BucketNotEmpty",
            "DeleteConflict",
            "InvalidBucketState",
            "UnmodifiableEntity",
            "IllegalLocationConstraintException",
            "InvalidLocationConstraint",
            "AuthorizationHeaderMalformed",
            "PermanentRedirect",
            "TemporaryRedirect",
            "NotImplemented",
            "InvalidAction",
            "MethodNotAllowed",
            "UnsupportedOperation",
        ],
    ),
    // Other work on the thing is under way, or has not spread yet: soon again.
    (
        ErrorKind::Aborted,
        &[
            "OperationAborted",
            "ConcurrentModification",
            "EntityTemporarilyUnmodifiable",
            "NoSuchBucket",
            "NoSuchEntity",
            "NoSuchTagSet",
        ],
    ),
    (
        ErrorKind::PermissionDenied,
        &[
            "AccessDenied",
            "AccessDeniedException",
            "AllAccessDisabled",
            "AccountProblem",
            "UnauthorizedOperation",
        ],
    ),
    (
        ErrorKind::Unauthenticated,
        &[
            "InvalidAccessKeyId",
            "InvalidClientTokenId",
            "SignatureDoesNotMatch",
            "IncompleteSignature",
            "MissingAuthenticationToken",
            "MissingSecurityHeader",
            "UnrecognizedClientException",
            "ExpiredToken",
            "ExpiredTokenException",
            "InvalidToken",
            "InvalidSecurity",
            "NotSignedUp",
            "OptInRequired",
            "RequestExpired",
            "RequestTimeTooSkewed",
        ],
    ),
    (
        ErrorKind::ResourceExhausted,
        &[
            "TooManyBuckets",
            "LimitExceeded",
            "LimitExceededException",
            "QuotaExceeded",
            "SlowDown",
            "Throttling",
            "ThrottlingException",
            "ThrottledException",
            "TooManyRequests",
            "TooManyRequestsException",
            "RequestLimitExceeded",
            "BandwidthLimitExceeded",
        ],
    ),
    (ErrorKind::Unavailable, &["ServiceUnavailable", "RequestTimeout", "RequestTimeoutException"]),
    (ErrorKind::Internal, &["InternalError", "InternalFailure", "InternalServerError", "ServiceFailure"]),
];

/// How a call failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    /// It could not be put together, most often because the standard credentials chain gave none. Nothing was sent.
    NotSent(String),
    /// The service wasn't reached, or the connection broke.
    NoConnection(String),
    /// There was no answer in time.
    TimedOut,
    /// What came back could not be read.
    Unreadable,
    /// The service said no.
    Refused {
        /// Its own code; empty if it gave none.
        code: String,
        /// The HTTP status.
        status: u16,
    },
}

impl Failure {
    pub(super) fn of<E>(error: &SdkError<E, HttpResponse>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
    {
        match error {
            SdkError::ConstructionFailure(_) => Self::NotSent(reason(error)),
            SdkError::TimeoutError(_) => Self::TimedOut,
            SdkError::DispatchFailure(failure) if failure.is_timeout() => Self::TimedOut,
            SdkError::DispatchFailure(_) => Self::NoConnection(reason(error)),
            SdkError::ServiceError(answer) => Self::Refused {
                code: answer.err().code().unwrap_or_default().to_owned(),
                status: answer.raw().status().as_u16(),
            },
            _ => Self::Unreadable,
        }
    }

    /// The service's own code for what went wrong; empty if it gave none.
    pub(super) fn code(&self) -> &str {
        if let Self::Refused { code, .. } = self { code } else { "" }
    }

    /// What the sidecar is told. Of a refusal only code and status are quoted: the service's own words may hold key ids.
    pub(super) fn while_doing(&self, what: &str) -> DriverError {
        let words = match self {
            Self::NotSent(reason) => format!("can't {what}: {reason}"),
            Self::NoConnection(reason) => format!("can't {what}: the service can't be reached: {reason}"),
            Self::TimedOut => format!("can't {what}: the service did not answer in time"),
            Self::Unreadable => format!("can't {what}: the service's answer can't be read"),
            Self::Refused { code, status } => {
                let code = if is_code(code) { code } else { "an error without a code" };
                format!("can't {what}: the service answered {code} (HTTP {status})")
            }
        };
        let kind = self.kind();
        match advice(kind) {
            Some(advice) => DriverError::new(kind, format!("{words}; {advice}")),
            None => DriverError::new(kind, words),
        }
    }

    /// Total: each failure has its code here and nowhere else.
    pub(super) fn kind(&self) -> ErrorKind {
        match self {
            // Without credentials nothing was sent; tried again, because they may come.
            Self::NotSent(_) => ErrorKind::Unauthenticated,
            // It may have been done, or be done later.
            Self::NoConnection(_) | Self::TimedOut => ErrorKind::Unavailable,
            Self::Unreadable => ErrorKind::Internal,
            Self::Refused { code, status } => of_code(code).unwrap_or_else(|| of_status(*status)),
        }
    }
}

fn of_code(code: &str) -> Option<ErrorKind> {
    CODES.iter().find(|(_, codes)| codes.contains(&code)).map(|(kind, _)| *kind)
}

/// For codes that this driver doesn't know. Whoever can't say what happened must not promise that nothing did.
fn of_status(status: u16) -> ErrorKind {
    match status {
        401 => ErrorKind::Unauthenticated,
        403 => ErrorKind::PermissionDenied,
        429 => ErrorKind::ResourceExhausted,
        408 | 502..=504 => ErrorKind::Unavailable,
        _ => ErrorKind::Internal,
    }
}

fn advice(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::Unauthenticated => Some("check the driver's own credentials"),
        ErrorKind::PermissionDenied => {
            Some("the driver's own credentials lack the right, or it belongs to somebody else")
        }
        ErrorKind::ResourceExhausted => Some("a quota or a rate limit of the service is reached"),
        ErrorKind::Aborted => Some("it is being changed or has not spread yet; try again"),
        _ => None,
    }
}

/// A code is a word; anything else may be somebody's web page.
fn is_code(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
}

/// The error with its causes. These are the SDK's own words on what it could not do, not the service's.
fn reason<E>(error: &SdkError<E, HttpResponse>) -> String
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
{
    crate::chain::chain(error)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn refused(code: &str, status: u16) -> Failure {
        Failure::Refused { code: code.to_owned(), status }
    }

    #[rstest]
    #[case(ErrorKind::InvalidArgument, &["InvalidBucketName", "InvalidTag", "InvalidInput", "ValidationError", "MalformedPolicyDocument"])]
    #[case(ErrorKind::AlreadyExists, &["BucketAlreadyExists", "BucketAlreadyOwnedByYou", "EntityAlreadyExists"])]
    #[case(ErrorKind::FailedPrecondition, &[
        "BucketNotEmpty", "DeleteConflict", "InvalidBucketState", "UnmodifiableEntity", "IllegalLocationConstraintException",
        "InvalidLocationConstraint", "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect", "NotImplemented",
        "InvalidAction", "MethodNotAllowed", "UnsupportedOperation",
    ])]
    #[case(ErrorKind::Aborted, &[
        "OperationAborted", "ConcurrentModification", "EntityTemporarilyUnmodifiable", "NoSuchBucket", "NoSuchEntity",
        "NoSuchTagSet",
    ])]
    #[case(ErrorKind::PermissionDenied, &[
        "AccessDenied", "AccessDeniedException", "AllAccessDisabled", "AccountProblem", "UnauthorizedOperation",
    ])]
    #[case(ErrorKind::Unauthenticated, &[
        "InvalidAccessKeyId", "InvalidClientTokenId", "SignatureDoesNotMatch", "IncompleteSignature",
        "MissingAuthenticationToken", "MissingSecurityHeader", "UnrecognizedClientException", "ExpiredToken",
        "ExpiredTokenException", "InvalidToken", "InvalidSecurity", "NotSignedUp", "OptInRequired", "RequestExpired",
        "RequestTimeTooSkewed",
    ])]
    #[case(ErrorKind::ResourceExhausted, &[
        "TooManyBuckets", "LimitExceeded", "LimitExceededException", "QuotaExceeded", "SlowDown", "Throttling",
        "ThrottlingException", "ThrottledException", "TooManyRequests", "TooManyRequestsException", "RequestLimitExceeded",
        "BandwidthLimitExceeded",
    ])]
    #[case(ErrorKind::Unavailable, &["ServiceUnavailable", "RequestTimeout", "RequestTimeoutException"])]
    #[case(ErrorKind::Internal, &["InternalError", "InternalFailure", "InternalServerError", "ServiceFailure"])]
    fn each_code_of_the_service_has_one_meaning_whatever_the_status(
        #[case] kind: ErrorKind,
        #[case] codes: &[&str],
    ) {
        for code in codes {
            for status in [200, 400, 403, 409, 500, 503] {
                let error = refused(code, status).while_doing("make bucket bc-1");
                assert_eq!(error.kind(), kind, "{code}");
                assert!(error.message().contains(code) && error.message().contains("bc-1"), "{error}");
            }
        }
    }

    /// The promise "nothing was done" (R3) is made only for a status that makes it.
    #[test]
    fn an_unknown_code_goes_by_its_status_and_every_status_has_a_meaning() {
        for status in 100..=999 {
            let kind = refused("Novelty", status).kind();
            let expected = match status {
                401 => ErrorKind::Unauthenticated,
                403 => ErrorKind::PermissionDenied,
                429 => ErrorKind::ResourceExhausted,
                408 | 502 | 503 | 504 => ErrorKind::Unavailable,
                _ => ErrorKind::Internal,
            };
            assert_eq!(kind, expected, "{status}");
        }
    }

    #[test]
    fn no_code_stands_for_two_things() {
        let mut codes: Vec<_> = CODES.iter().flat_map(|(_, codes)| *codes).collect();
        let all = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), all);
    }

    #[test]
    fn without_an_answer_the_outcome_is_unknown_unless_nothing_was_sent() {
        assert_eq!(Failure::NoConnection("refused".into()).kind(), ErrorKind::Unavailable);
        assert_eq!(Failure::TimedOut.kind(), ErrorKind::Unavailable);
        assert_eq!(Failure::Unreadable.kind(), ErrorKind::Internal);
        assert_eq!(Failure::NotSent("no credentials".into()).kind(), ErrorKind::Unauthenticated);
    }

    #[rstest]
    #[case("")]
    #[case("<html>canary</html>")]
    #[case("two words")]
    fn what_is_no_code_is_not_quoted(#[case] code: &str) {
        let error = refused(code, 502).while_doing("make bucket bc-1");
        assert_eq!(
            error.message(),
            "can't make bucket bc-1: the service answered an error without a code (HTTP 502)"
        );
    }
}
