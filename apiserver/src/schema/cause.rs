//! Why a field was refused, in the words that clients of Kubernetes know.

use super::print;
use serde_json::Value;

/// What is wrong with a field. The names are those of a Status' causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CauseReason {
    /// It must be there and isn't.
    Required,
    /// It must be the only one of its value.
    Duplicate,
    /// Its value is malformed, or against a rule.
    Invalid,
    /// Its value isn't one of those that are allowed.
    NotSupported,
    /// Its value would be fine, but not here and now.
    Forbidden,
    /// A text of it is longer than allowed.
    TooLong,
    /// It has more items than allowed.
    TooMany,
    /// Its value isn't of the schema's type.
    TypeInvalid,
    /// What it points to isn't there.
    NotFound,
}

impl CauseReason {
    /// The word in a Status' cause.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::NotFound => "FieldValueNotFound",
        }
    }

    /// The words that a cause's message begins with.
    fn label(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::NotFound => "Not found",
        }
    }

    /// Whether rules in CEL can't be trusted to hold for an object with this fault, and so are not tried.
    fn blocks_rules(self) -> bool {
        matches!(
            self,
            Self::NotSupported | Self::Required | Self::TooLong | Self::TooMany | Self::TypeInvalid
        )
    }
}

/// One fault of an object, as it is told in a Status.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// What is wrong.
    pub reason: CauseReason,
    /// Where, from the object's root: `spec.bucketClaims[0].accessMode`.
    pub field: String,
    /// What is wrong in words, without the field.
    pub message: String,
}

impl Cause {
    /// A fault whose message doesn't repeat the value.
    #[must_use]
    pub fn plain(reason: CauseReason, field: impl Into<String>, detail: &str) -> Self {
        Self::build(reason, field.into(), reason.label().to_owned(), detail)
    }

    /// A fault whose message shows the value.
    #[must_use]
    pub fn with_value(reason: CauseReason, field: impl Into<String>, value: &Value, detail: &str) -> Self {
        Self::build(reason, field.into(), format!("{}: {}", reason.label(), print::value(value)), detail)
    }

    /// A required field that is missing.
    #[must_use]
    pub fn required(field: impl Into<String>, detail: &str) -> Self {
        Self::plain(CauseReason::Required, field, detail)
    }

    /// A malformed value.
    #[must_use]
    pub fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        Self::with_value(CauseReason::Invalid, field, value, detail)
    }

    /// A malformed value that is shown in these words.
    #[must_use]
    pub fn invalid_shown(field: impl Into<String>, shown: &str, detail: &str) -> Self {
        let reason = CauseReason::Invalid;
        Self::build(reason, field.into(), format!("{}: {shown}", reason.label()), detail)
    }

    /// A value that isn't allowed here and now.
    #[must_use]
    pub fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self::plain(CauseReason::Forbidden, field, detail)
    }

    /// A value that was there before in the same list.
    #[must_use]
    pub fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        Self::with_value(CauseReason::Duplicate, field, value, "")
    }

    /// A value that isn't one of `supported`.
    #[must_use]
    pub fn not_supported(field: impl Into<String>, value: &Value, supported: &[Value]) -> Self {
        let listed: Vec<String> = supported.iter().map(print::choice).collect();
        let detail = format!("supported values: {}", listed.join(", "));
        Self::with_value(CauseReason::NotSupported, field, value, &detail)
    }

    /// A text of more than `max` characters (which the API server calls bytes).
    #[must_use]
    pub fn too_long(field: impl Into<String>, max: u64) -> Self {
        let unit = if max == 1 { "byte" } else { "bytes" };
        Self::plain(CauseReason::TooLong, field, &format!("may not be more than {max} {unit}"))
    }

    /// More than `max` items or properties.
    #[must_use]
    pub fn too_many(field: impl Into<String>, actual: usize, max: u64) -> Self {
        let unit = if max == 1 { "item" } else { "items" };
        let detail = format!("must have at most {max} {unit}");
        Self::with_value(CauseReason::TooMany, field, &Value::from(actual), &detail)
    }

    /// Field and message, as a Status' own message lists them.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}: {}", self.field, self.message)
    }

    /// Whether rules in CEL are not tried because of this.
    pub(crate) fn blocks_rules(&self) -> bool {
        self.reason.blocks_rules()
    }

    fn build(reason: CauseReason, field: String, head: String, detail: &str) -> Self {
        let message = if detail.is_empty() { head } else { format!("{head}: {detail}") };
        Self { reason, field: if field.is_empty() { "<nil>".to_owned() } else { field }, message }
    }
}
