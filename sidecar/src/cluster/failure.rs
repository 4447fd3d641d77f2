//! What the API server's refusals mean.

use std::time::Duration;

use cosi_lifecycle::WriteFailure;
use kube::Error;
use kube::core::Status;
use tokio::time::error::Elapsed;

use crate::lease::LeaseLost;

/// Longest wait for an answer of the API server. A write may land later all the same; it is conditioned on a
/// resourceVersion, so it can do no harm, and the object is read again before anything else.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// The failure in the lifecycle's terms.
pub(super) fn classify(error: &Error) -> WriteFailure {
    if LeaseLost::caused(error) {
        // Nothing was written; what may still be done is decided on what a live read shows.
        return WriteFailure::Conflict;
    }
    let Error::Api(status) = error else {
        return WriteFailure::Other { message: crate::chain(error), retry_after: None };
    };
    of_status(status, status.message.clone())
}

/// What the API server's answer means, with a text for a person.
pub(super) fn of_status(status: &Status, message: String) -> WriteFailure {
    match status.code {
        404 => WriteFailure::NotFound,
        409 => WriteFailure::Conflict,
        400 | 422 => WriteFailure::Invalid { message },
        401 | 403 => WriteFailure::Forbidden { message },
        _ => {
            let seconds = status.details.as_ref().map_or(0, |d| d.retry_after_seconds);
            let retry_after = (seconds > 0).then(|| Duration::from_secs(seconds.into()));
            WriteFailure::Other { message, retry_after }
        }
    }
}

/// Whether the API server says of this very object that it does not exist (I3). A 404 of another kind – a version that is
/// not served, a proxy's own page – says nothing about it.
pub(crate) fn says_gone(status: &Status, name: &str) -> bool {
    let of_it = status.details.as_ref().is_some_and(|details| details.name == name);
    status.code == 404 && status.reason == "NotFound" && of_it
}

/// No answer in time.
pub(super) fn too_late(_: Elapsed) -> WriteFailure {
    let message = format!("the API server did not answer within {} s", ANSWER_WITHIN.as_secs());
    WriteFailure::Other { message, retry_after: None }
}
