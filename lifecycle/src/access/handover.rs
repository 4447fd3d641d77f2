//! What the controller's hand-over must hold, and what of it the driver is told.

use std::fmt::Write as _;
use std::sync::Arc;

use cosi_api::BucketAccessAuthenticationType::ServiceAccount;
use cosi_api::value::AccountName;

use super::{AccessView, Accessed, Reach, Request, Wish};
use crate::Problem;
use crate::bucket::BucketView;

/// What identifies a Grant for this access; `None` while the hand-over is incomplete.
pub(super) fn request(view: &AccessView) -> Option<Request> {
    let authentication = view.authentication?;
    let reach = |wish: &Wish| Some(Reach { id: accessed(view, wish)?.id.clone(), mode: wish.mode });
    Some(Request {
        account: account_name(view),
        protocol: view.protocol,
        authentication,
        service_account: view.service_account.clone().filter(|_| authentication == ServiceAccount),
        parameters: view.parameters.clone(),
        buckets: view.wishes.iter().map(reach).collect::<Option<_>>()?,
    })
}

/// The account's name: a function of the UID alone (R2).
pub(super) fn account_name(view: &AccessView) -> Arc<str> {
    // A UID of an API server is always the end of a valid name.
    AccountName::for_access(&view.uid).map_or_else(|_| Arc::clone(&view.uid), |name| name.as_str().into())
}

/// The Bucket behind an entry of `spec.bucketClaims`.
pub(super) fn accessed<'a>(view: &'a AccessView, wish: &Wish) -> Option<&'a Accessed> {
    view.accessed.iter().find(|a| a.claim == wish.claim)
}

/// Why no driver can be asked for this access, if that is so. Nothing was sent for one that never got past this.
pub(super) fn unworkable(view: &AccessView) -> Option<Problem> {
    let missing = match (view.authentication.is_none(), view.accessed.is_empty()) {
        (true, true) => "authenticationType and accessedBuckets are",
        (true, false) => "authenticationType is",
        (false, true) => "accessedBuckets is",
        (false, false) => "",
    };
    if !missing.is_empty() {
        let text = format!(
            "the hand-over by the controller is incomplete: status.driverName is set, but {missing} not; \
             the controller must fill in all of them, or the BucketAccess be made anew"
        );
        return Some(Problem::object(&text));
    }
    let each = view.wishes.iter().all(|wish| accessed(view, wish).is_some());
    if !each || view.accessed.len() != view.wishes.len() {
        return Some(Problem::object(
            "status.accessedBuckets must name exactly one Bucket for each of spec.bucketClaims; \
             make the BucketAccess anew",
        ));
    }
    if let Some(twice) = shared_secret(view) {
        let text = format!(
            "Secret {twice} is named for two of spec.bucketClaims; \
             make the BucketAccess anew with an accessSecretName of its own for each"
        );
        return Some(Problem::object(&text));
    }
    if view.authentication == Some(ServiceAccount) && view.service_account.is_none() {
        return Some(Problem::object(
            "the class wants ServiceAccount authentication, but spec.serviceAccountName is not set; \
             make the BucketAccess anew with it",
        ));
    }
    None
}

fn shared_secret(view: &AccessView) -> Option<&str> {
    let again = |(i, wish): (usize, &Wish)| view.wishes.iter().skip(i + 1).any(|w| w.secret == wish.secret);
    let twice = view.wishes.iter().enumerate().find(|entry| again(*entry));
    twice.map(|(_, wish)| wish.secret.as_ref())
}

/// Why the accessed Buckets, as they are now, must not be granted access to, if that is so.
pub(super) fn out_of_reach(view: &AccessView, buckets: &[Option<BucketView>]) -> Option<Problem> {
    let mut text = String::new();
    for (accessed, bucket) in view.accessed.iter().zip(buckets) {
        if let Some(why) = unfit(view, accessed, bucket.as_ref()) {
            let and = if text.is_empty() { "" } else { "; " };
            // Writing to a String cannot fail.
            let _ = write!(text, "{and}Bucket {} {why}", accessed.bucket);
        }
    }
    (!text.is_empty()).then(|| Problem::prerequisite(&format!("no access can be granted: {text}")))
}

fn unfit(view: &AccessView, accessed: &Accessed, bucket: Option<&BucketView>) -> Option<String> {
    let Some(bucket) = bucket else { return Some("does not exist".to_owned()) };
    if view.driver.as_ref() != Some(&bucket.driver) {
        return Some(format!("is another driver's ({})", bucket.driver));
    }
    if bucket.deleting {
        return Some("is being deleted".to_owned());
    }
    if bucket.claim_deleting {
        return Some("belongs to a BucketClaim that is being deleted".to_owned());
    }
    match bucket.bucket_id.as_deref() {
        None => Some("has no status.bucketID yet".to_owned()),
        Some(id) if id != accessed.id.as_ref() => {
            Some(format!("has status.bucketID {id}, but the access was prepared for {}", accessed.id))
        }
        Some(_) => None,
    }
}
