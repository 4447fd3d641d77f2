//! What a grant must answer (COSI-GRANT-7 and -8).

use cosi_proto::v1alpha2 as wire;
use wire::object_protocol::Type as Protocol;
use wire::s3_addressing_style::Style;

use crate::bench::{Bench, protocols_of};
use crate::driver::rpc::{Grant, Granted};
use crate::settings::Authentication;

/// Longest text in info and credentials, in bytes (COSI-GEN-8).
const LONGEST: usize = 4096;

/// A finding for each thing that is missing, too much, or not fit for use.
pub(super) fn look_at(bench: &Bench, request: &Grant, granted: &Granted, authentication: Authentication) {
    let mut wanted: Vec<&str> = request.buckets.iter().map(|bucket| bucket.bucket_id.as_str()).collect();
    let mut there: Vec<&str> = granted.buckets.iter().map(|bucket| bucket.bucket_id.as_str()).collect();
    wanted.sort_unstable();
    there.sort_unstable();
    if wanted != there {
        bench.wrong(format!("the answer is for buckets {there:?}; access to {wanted:?} was asked for"));
    }
    let protocol = bench.shared.protocol();
    for bucket in &granted.buckets {
        // An absent message says as little as an empty one.
        let info = bucket.bucket_info.clone().unwrap_or_default();
        if protocols_of(&info) != [protocol] {
            bench.wrong(format!(
                "the info for bucket {} is not for exactly {}",
                bucket.bucket_id,
                protocol.as_str_name()
            ));
        }
        for field in wrong_fields(&info) {
            bench.wrong(format!(
                "{field} is empty, too long or unknown in the info for bucket {}",
                bucket.bucket_id
            ));
        }
    }
    let credentials = granted.credentials.clone().unwrap_or_default();
    let of = [credentials.s3.is_some(), credentials.azure.is_some(), credentials.gcs.is_some()];
    if of != [protocol == Protocol::S3, protocol == Protocol::Azure, protocol == Protocol::Gcs] {
        bench.wrong(format!("the credentials are not for exactly {}", protocol.as_str_name()));
    }
    for field in missing_credentials(&credentials, authentication) {
        bench.wrong(format!("{field} is empty or too long in the credentials"));
    }
}

fn unfit(text: &str) -> bool {
    text.is_empty() || text.len() > LONGEST
}

fn wrong_fields(info: &wire::ObjectProtocolAndBucketInfo) -> Vec<&'static str> {
    let mut wrong = Vec::new();
    let mut look = |name, text: &str| {
        if unfit(text) {
            wrong.push(name);
        }
    };
    if let Some(s3) = &info.s3 {
        look("bucket_id", &s3.bucket_id);
        look("endpoint", &s3.endpoint);
        look("region", &s3.region);
        let style = s3.addressing_style.map_or(Style::Unknown, |style| style.style());
        look("addressing_style", if style == Style::Unknown { "" } else { "known" });
    }
    if let Some(azure) = &info.azure {
        look("storage_account", &azure.storage_account);
    }
    if let Some(gcs) = &info.gcs {
        look("project_id", &gcs.project_id);
        look("bucket_name", &gcs.bucket_name);
    }
    wrong
}

fn missing_credentials(info: &wire::CredentialInfo, authentication: Authentication) -> Vec<&'static str> {
    let mut missing = Vec::new();
    let mut look = |name, text: &str| {
        if unfit(text) {
            missing.push(name);
        }
    };
    let key = authentication == Authentication::Key;
    if let Some(s3) = info.s3.as_ref().filter(|_| key) {
        look("access_key_id", &s3.access_key_id);
        look("access_secret_key", &s3.access_secret_key);
    }
    if let Some(azure) = info.azure.as_ref().filter(|_| key) {
        look("access_token", &azure.access_token);
    }
    match &info.gcs {
        Some(gcs) if key => {
            look("access_id", &gcs.access_id);
            look("access_secret", &gcs.access_secret);
        }
        Some(gcs) => {
            look("private_key_name", &gcs.private_key_name);
            look("service_account", &gcs.service_account);
        }
        None => {}
    }
    missing
}
