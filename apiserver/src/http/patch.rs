//! A PATCH: the change, by its content type, and how its failures are told.

use serde_json::Value;

use super::decode;
use super::json;
use super::query::{Strictness, WriteOptions};
use crate::patch::{self, PatchError};
use crate::schema::{Cause, Kind};
use crate::status::Refusal;

/// How a patch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A list of operations.
    Json,
    /// An object of new values.
    Merge,
    /// The same, with what the kind's structure says of lists.
    Strategic,
    /// All that the sender wants of the object.
    Apply,
}

const OF_CUSTOM: [(&str, Format); 3] = [
    ("application/json-patch+json", Format::Json),
    ("application/merge-patch+json", Format::Merge),
    ("application/apply-patch+yaml", Format::Apply),
];

impl Format {
    /// By the request's content type.
    pub(crate) fn of(kind: &Kind, content_type: &str) -> Result<Self, Refusal> {
        let content_type = content_type.split(';').next().unwrap_or_default().trim();
        if kind.builtin && content_type == "application/strategic-merge-patch+json" {
            return Ok(Self::Strategic);
        }
        let known = OF_CUSTOM.iter().find(|(name, _)| *name == content_type);
        let refusal = || {
            if kind.builtin {
                Refusal::unrouted(415, "UnsupportedMediaType", "415: Unsupported Media Type")
            } else {
                Refusal::unsupported_media_type(&OF_CUSTOM.map(|(name, _)| name))
            }
        };
        known.map(|(_, format)| *format).ok_or_else(refusal)
    }
}

/// A patch that was read.
#[derive(Debug)]
pub(crate) struct Patch {
    format: Format,
    content: Value,
    doubled: Vec<String>,
}

impl Patch {
    pub(crate) fn read(format: Format, body: &[u8]) -> Result<Self, Refusal> {
        let (content, doubled) = json::parse(body).map_err(|error| {
            Refusal::bad_request(format!("error decoding patch: {}", json::complaint(body, &error)))
        })?;
        Ok(Self { format, content, doubled })
    }

    /// The object after the patch, and what the client should know.
    pub(crate) fn apply(
        &self,
        kind: &Kind,
        live: &Value,
        options: &WriteOptions,
    ) -> Result<(Value, Vec<String>), Refusal> {
        let (patched, mut unknown) = match self.format {
            Format::Json => {
                let patched = patch::json(live, &self.content).map_err(|error| refused(&error))?;
                (patched.object, patched.unknown)
            }
            Format::Merge | Format::Apply => {
                (patch::merge(live, &self.content).map_err(|error| refused(&error))?, Vec::new())
            }
            Format::Strategic => {
                (patch::strategic(kind, live, &self.content).map_err(|error| refused(&error))?, Vec::new())
            }
        };
        unknown.retain(|_| options.strictness != Strictness::Ignore);
        let shown = patched.to_string();
        let decoded = decode::read(kind, patched, &self.doubled, options.strictness)
            .map_err(|refusal| invalid(&shown, &refusal))?;
        unknown.extend(decoded.warnings);
        if options.strictness == Strictness::Strict && !unknown.is_empty() {
            let text = format!("strict decoding error: {}", unknown.join(", "));
            return Err(invalid(&shown, &Refusal::bad_request(text)));
        }
        Ok((decoded.object, unknown))
    }
}

/// 422: what comes out of the patch is no object of the kind.
fn invalid(shown: &str, why: &Refusal) -> Refusal {
    let text = why.to_string();
    let text = text
        .split_once(": ")
        .filter(|(head, _)| head.contains("cannot be handled"))
        .map_or(text.as_str(), |(_, rest)| rest);
    Refusal::invalid_of("", "", "", &[Cause::invalid("patch", &Value::from(shown), text)])
}

fn refused(error: &PatchError) -> Refusal {
    let text = error.to_string();
    match error {
        PatchError::Malformed(_) => Refusal::bad_request(text),
        PatchError::Unfit(_) => Refusal::unprocessable(text),
        PatchError::TooLong { .. } => Refusal::too_large_text(text),
        PatchError::Mistyped(_) => Refusal::other(500, &text),
    }
}
