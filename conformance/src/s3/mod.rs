//! A small S3 client: three deeds with one object, to see what a key may do.
//!
//! It follows no redirects and repeats nothing by itself, so that each answer is the one that the key got.

mod connect;
mod sign;

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use cosi_proto::v1alpha2 as wire;
use http_body_util::{BodyExt as _, Collected, Full, Limited};
use tokio::time::{Instant, sleep, timeout};
use wire::s3_addressing_style::Style;

use self::connect::{Connections, NoAnswer};
use crate::driver::rpc::Granted;

/// What is put into objects.
const CONTENT: &[u8] = b"cosi-conformance";
/// Longest part of an answer that is read, in bytes.
const READ: usize = 64 << 10;
/// Between two looks at something that is not yet as wanted.
const PAUSE: Duration = Duration::from_millis(100);

/// A bucket and a key to it. Not to be printed: there is no Debug.
#[derive(Clone, PartialEq)]
pub(crate) struct Access {
    endpoint: String,
    bucket: String,
    virtual_host: bool,
    region: String,
    key_id: String,
    secret: String,
}

/// What is done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Put,
    Get,
    Delete,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Seen {
    /// Done.
    Allowed,
    /// The key may do it, but there is no such object.
    Absent,
    /// The key may not.
    Refused(u16),
    /// Nobody could be asked from here: nothing was done.
    Unreachable(String),
    /// An answer that says nothing about rights.
    Odd(String),
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allowed => f.write_str("allowed"),
            Self::Absent => f.write_str("not there"),
            Self::Refused(status) => write!(f, "refused with {status}"),
            Self::Unreachable(why) | Self::Odd(why) => f.write_str(why),
        }
    }
}

impl Access {
    pub(crate) fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The same key at the bucket of another access.
    pub(crate) fn at(&self, other: &Self) -> Self {
        Self { bucket: other.bucket.clone(), ..self.clone() }
    }

    pub(crate) fn has_key_of(&self, other: &Self) -> bool {
        (&self.key_id, &self.secret) == (&other.key_id, &other.secret)
    }
}

/// The client.
pub(crate) struct S3 {
    connections: Connections,
    endpoint: Option<String>,
    timeout: Duration,
    settle: Duration,
}

impl S3 {
    /// With an address to be used instead of the one that the driver answers.
    pub(crate) fn new(endpoint: Option<String>, timeout: Duration, settle: Duration) -> Self {
        Self { connections: Connections::new(timeout / 2), endpoint, timeout, settle }
    }

    /// What a granted account needs to use a bucket; if there is none, why.
    pub(crate) fn access(&self, granted: &Granted, bucket_id: &str) -> Result<Access, String> {
        let info = granted.buckets.iter().find(|bucket| bucket.bucket_id == bucket_id);
        let info = info.and_then(|bucket| bucket.bucket_info.as_ref()?.s3.as_ref());
        let key = granted.credentials.as_ref().and_then(|credentials| credentials.s3.as_ref());
        let (Some(info), Some(key)) = (info, key) else {
            return Err("what a key may do is tried with S3 only".to_owned());
        };
        if key.access_key_id.is_empty() || key.access_secret_key.is_empty() {
            return Err("what a key may do can't be tried without a key (authentication type Key)".to_owned());
        }
        let endpoint = self.endpoint.as_ref().unwrap_or(&info.endpoint);
        Ok(Access {
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            bucket: info.bucket_id.clone(),
            virtual_host: info.addressing_style.is_some_and(|style| style.style() == Style::Virtual),
            region: info.region.clone(),
            key_id: key.access_key_id.clone(),
            secret: key.access_secret_key.clone(),
        })
    }

    /// Tries until it is as wanted, or the time is over that rights may take.
    pub(crate) async fn settled(&self, access: &Access, deed: Deed, key: &str, wanted: bool) -> Seen {
        let begun = Instant::now();
        loop {
            let seen = self.once(access, deed, key).await;
            let as_wanted = match seen {
                Seen::Allowed | Seen::Absent => wanted,
                Seen::Refused(_) => !wanted,
                Seen::Unreachable(_) => true,
                Seen::Odd(_) => false,
            };
            if as_wanted || begun.elapsed() >= self.settle {
                return seen;
            }
            sleep(PAUSE).await;
        }
    }

    pub(crate) async fn once(&self, access: &Access, deed: Deed, key: &str) -> Seen {
        let request = match sign::request(access, deed, key, content(deed)) {
            Ok(request) => request,
            Err(error) => {
                return Seen::Unreachable(format!("S3 can't be tried at {:?}: {error}", access.endpoint));
            }
        };
        let unreachable = |why: String| {
            Seen::Unreachable(format!(
                "S3 can't be tried: {} is not reached from here ({why}); say with --s3-endpoint where it is",
                access.endpoint
            ))
        };
        match timeout(self.timeout, self.connections.send(request)).await {
            Err(_) => Seen::Odd("the S3 server does not answer".to_owned()),
            Ok(Err(NoAnswer::NotSent(why))) => unreachable(why),
            Ok(Err(NoAnswer::Broken(why))) => {
                Seen::Odd(format!("the connection to the S3 server broke: {why}"))
            }
            Ok(Ok(response)) => {
                let status = response.status().as_u16();
                let body = Limited::new(response.into_body(), READ).collect();
                let body = timeout(self.timeout, body).await.ok().and_then(Result::ok);
                let text = body.map(Collected::to_bytes).unwrap_or_default();
                judge(deed, status, &String::from_utf8_lossy(&text))
            }
        }
    }
}

fn content(deed: Deed) -> &'static [u8] {
    if deed == Deed::Put { CONTENT } else { b"" }
}

fn judge(deed: Deed, status: u16, text: &str) -> Seen {
    let after = text.split_once("<Code>").map_or("", |(_, after)| after);
    let code = after.split_once("</Code>").map_or("", |(code, _)| code);
    let refused = ["AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken"];
    match status {
        200..=299 => Seen::Allowed,
        404 if deed != Deed::Put => Seen::Absent,
        401 | 403 => Seen::Refused(status),
        _ if refused.contains(&code) => Seen::Refused(status),
        _ => Seen::Odd(format!("S3 answered {status} {code}")),
    }
}

type Body = Full<Bytes>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_about_rights_or_odd() {
        let seen = |deed, status, text| judge(deed, status, text).to_string();
        assert_eq!(seen(Deed::Get, 200, ""), "allowed");
        assert_eq!(seen(Deed::Get, 404, ""), "not there");
        assert_eq!(seen(Deed::Put, 404, "<Code>NoSuchBucket</Code>"), "S3 answered 404 NoSuchBucket");
        assert_eq!(seen(Deed::Put, 403, ""), "refused with 403");
        assert_eq!(seen(Deed::Put, 400, "<E><Code>InvalidAccessKeyId</Code></E>"), "refused with 400");
        assert_eq!(seen(Deed::Get, 500, "<Code>InternalError</Code>"), "S3 answered 500 InternalError");
    }
}
