//! What a driver is and can, for people who debug one.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;

use cosi_proto::v1alpha2 as wire;
use serde::Serialize;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::bench::{Bench, Bucket, Mode, Stop, Tried, protocols_of, undo_create, unprepared};
use crate::driver::How;
use crate::driver::failure::{Failure, name};
use crate::reflection;
use crate::run::{RunError, connect};
use crate::settings::Settings;

/// What a driver is and can.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Probe {
    /// Its socket.
    pub endpoint: String,
    /// One after the other.
    pub facts: Vec<Fact>,
    /// What may be at the backend still, and could not be taken away.
    pub left_over: Vec<String>,
    /// Whether it was stopped before the end.
    pub interrupted: bool,
}

/// One thing that is known of a driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// The question.
    pub what: &'static str,
    /// The answer.
    pub is: String,
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.facts.iter().map(|fact| fact.what.len()).max().unwrap_or_default();
        for Fact { what, is } in &self.facts {
            writeln!(f, "{what:<width$}  {is}")?;
        }
        if self.interrupted {
            writeln!(f, "Stopped before the end.")?;
        }
        for left in &self.left_over {
            writeln!(f, "Left at the backend, to be removed by hand: {left}")?;
        }
        Ok(())
    }
}

/// Asks the driver at the settings' endpoint what it is and can. A bucket and an account are made for that, and taken away;
/// also if `stop` resolves before the end.
///
/// # Errors
/// [`RunError`], before anything was made.
pub async fn probe(settings: Settings, stop: impl Future<Output = ()>) -> Result<Probe, RunError> {
    let shared = connect(settings).await?;
    let endpoint = shared.settings.endpoint.to_string();
    let bench = Bench::new(Arc::clone(&shared), std::collections::BTreeMap::new());
    let mut facts = Vec::new();
    let stop = pin!(stop);
    let interrupted = tokio::select! {
        biased;
        () = stop => true,
        () = look(&bench, &mut facts) => false,
    };
    bench.made.take_away(&shared.driver, &shared.s3).await;
    let left_over = bench.made.left();
    for fact in &mut facts {
        fact.is = shared.driver.journal.redact(&fact.is);
    }
    Ok(Probe { endpoint, facts, left_over, interrupted })
}

type Facts = Vec<Fact>;

fn tell(facts: &mut Facts, what: &'static str, is: impl Into<String>) {
    facts.push(Fact { what, is: is.into() });
}

async fn look(bench: &Bench, facts: &mut Facts) {
    identity(bench, facts);
    services(bench, facts).await;
    // What stops one part says why, and the others go on.
    for stopped in [buckets(bench, facts).await, accounts(bench, facts).await] {
        if let Err(Stop::Skip(why) | Stop::Fail(why)) = stopped {
            tell(facts, "not found out", why);
        }
    }
}

fn identity(bench: &Bench, facts: &mut Facts) {
    let Some(info) = &bench.shared.info else {
        return tell(facts, "name", "DriverGetInfo is not answered");
    };
    tell(facts, "name", info.name.clone());
    let protocols: Vec<_> =
        info.supported_protocols.iter().map(|protocol| protocol.r#type().as_str_name()).collect();
    tell(facts, "protocols", protocols.join(", "));
}

async fn services(bench: &Bench, facts: &mut Facts) {
    let (channel, limit) = (bench.driver().channel(), bench.driver().timeout());
    let health = HealthClient::new(channel.clone()).check(HealthCheckRequest::default()).await;
    let health = health.map_or("not served", |answer| answer.get_ref().status().as_str_name());
    tell(facts, "health", health);
    for (what, listed) in [
        ("reflection v1", reflection::v1(channel.clone(), limit).await),
        ("reflection v1alpha", reflection::v1alpha(channel, limit).await),
    ] {
        tell(facts, what, listed.map_or("not served".to_owned(), |services| services.join(", ")));
    }
}

/// Whether an RPC is offered, by what it says to a request about something that is not there.
fn offered<T>(answer: &Result<T, Failure>) -> String {
    match answer {
        Ok(_) => "offered".to_owned(),
        Err(failure) if failure.is(Code::Unimplemented) => "not offered".to_owned(),
        Err(failure) => failure.code().map_or_else(
            || failure.to_string(),
            |code| format!("offered (for what is not there: {})", name(code)),
        ),
    }
}

async fn buckets(bench: &Bench, facts: &mut Facts) -> Tried {
    let bucket = bench.bucket().await?;
    tell(facts, "an id", format!("{} for name {}", bucket.id, bucket.request.name));
    let existing = bench.ask(bench.existing_request(&format!("{}-x", bucket.id))).await;
    tell(facts, "DriverGetExistingBucket", offered(&existing));
    tell(facts, "DriverDeleteBucketByName", offered(&bench.ask(undo_create(&bench.create_request())).await));
    let again = bench.create(&bucket.request).await.map_err(unprepared)?;
    tell(
        facts,
        "a repeated create",
        if again.bucket_id == bucket.id { "answers the same id" } else { "answers another id" },
    );
    let there = again.protocols.as_ref().map(protocols_of).unwrap_or_default();
    let there: Vec<_> = there.into_iter().map(|protocol| protocol.as_str_name()).collect();
    tell(facts, "a new bucket supports", there.join(", "));
    let ids = if bench.sight().await?.ids_are_made_of_names() {
        "made of the name"
    } else {
        "chosen by the backend"
    };
    tell(facts, "ids", ids);
    let other = bench.create(&bench.other_request(&bucket.request)).await;
    tell(facts, "the same name, other parameters", said(&other));
    let late = How { not_after_ns: Some(1), ..How::default() };
    let late = bench.create_so(&bench.create_request(), late).await;
    let knows = late.is_err_and(|failure| failure.is(Code::FailedPrecondition));
    tell(facts, "cosi-not-after-ns", if knows { "known" } else { "not known" });
    Ok(())
}

fn said<T>(answer: &Result<T, Failure>) -> String {
    answer.as_ref().err().map_or_else(|| "OK".to_owned(), Failure::to_string)
}

async fn accounts(bench: &Bench, facts: &mut Facts) -> Tried {
    let buckets = [bench.bucket().await?, bench.bucket().await?];
    let [one, other] = &buckets;
    let request = bench.grant_request(&[(one, Mode::ReadWrite)]);
    let first = bench.grant(&request).await;
    if first.as_ref().is_err_and(|failure| failure.is(Code::Unimplemented)) {
        tell(facts, "DriverGrantBucketAccess", "not offered");
        return Ok(());
    }
    let first = first.map_err(unprepared)?;
    tell(facts, "an account's id", format!("{} for name {}", first.account_id, request.account_name));
    let again = bench.grant(&request).await.map_err(unprepared)?;
    let same = |what: bool| if what { "the same" } else { "another" };
    let keys = same(again.credentials == first.credentials);
    tell(
        facts,
        "a repeated grant",
        format!("answers {} id, {keys} key", same(again.account_id == first.account_id)),
    );
    tell(facts, "how the bucket is reached", reached(&first));
    modes(bench, facts, one).await;
    let several =
        bench.grant(&bench.grant_request(&[(one, Mode::ReadWrite), (other, Mode::ReadWrite)])).await;
    tell(facts, "several buckets per access", said(&several));
    let mut by_other = bench.grant_request(&[(one, Mode::ReadWrite)]);
    let authentication = bench.settings().authentication.other();
    bench.authenticate(&mut by_other, authentication);
    let answer = said(&bench.grant(&by_other).await);
    tell(
        facts,
        "the other authentication type",
        format!("{}: {answer}", authentication.to_wire().as_str_name()),
    );
    let mut absent = request;
    absent.account_name = bench.name();
    tell(
        facts,
        "DriverRevokeBucketAccessByName",
        offered(&bench.ask(crate::bench::undo_grant(&absent)).await),
    );
    Ok(())
}

async fn modes(bench: &Bench, facts: &mut Facts, bucket: &Bucket) {
    for (what, mode) in [("mode ReadOnly", Mode::ReadOnly), ("mode WriteOnly", Mode::WriteOnly)] {
        let answer = bench.grant(&bench.grant_request(&[(bucket, mode)])).await;
        tell(facts, what, said(&answer));
    }
}

/// Where users are sent, without anything secret.
fn reached(granted: &wire::DriverGrantBucketAccessResponse) -> String {
    let info = granted.buckets.first().and_then(|bucket| bucket.bucket_info.clone()).unwrap_or_default();
    let s3 = info.s3.map(|s3| {
        let style = s3.addressing_style.unwrap_or_default();
        format!(
            "S3 bucket {} at {}, region {}, style {}",
            s3.bucket_id,
            s3.endpoint,
            s3.region,
            style.style().as_str_name()
        )
    });
    let azure = info.azure.map(|azure| format!("Azure storage account {}", azure.storage_account));
    let gcs = info.gcs.map(|gcs| format!("GCS bucket {} of project {}", gcs.bucket_name, gcs.project_id));
    s3.or(azure).or(gcs).unwrap_or_else(|| "the answer does not say".to_owned())
}
