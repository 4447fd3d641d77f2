//! What the driver understands of a request's protocols and class parameters.

use std::collections::BTreeSet;

use cosi_driver_sdk::{BucketName, DriverError, Parameters, Protocol};

use crate::store::{Contents, Request};

/// `"true"`: deleting the bucket deletes what is in it. Default `"false"`: a bucket that isn't empty can't be deleted.
const DELETE_NON_EMPTY: &str = "deleteNonEmpty";

/// # Errors
/// `INVALID_ARGUMENT` that names what isn't supported.
pub(super) fn check(protocols: &BTreeSet<Protocol>, parameters: &Parameters) -> Result<(), DriverError> {
    if let Some(other) = protocols.iter().find(|protocol| **protocol != Protocol::S3) {
        return Err(DriverError::invalid_argument(format!("protocol {other} isn't supported; S3 is")));
    }
    parameters.only(&[DELETE_NON_EMPTY])?;
    match parameters.get(DELETE_NON_EMPTY) {
        None | Some("true" | "false") => Ok(()),
        Some(_) => Err(DriverError::invalid_argument(format!(
            "parameter {DELETE_NON_EMPTY} must be \"true\" or \"false\""
        ))),
    }
}

/// What a delete does with a bucket that isn't empty. Parameters that [`check`] would refuse don't block a delete: whatever
/// isn't a clear "discard" keeps the contents.
pub(super) fn contents(parameters: &Parameters) -> Contents {
    if parameters.get(DELETE_NON_EMPTY) == Some("true") { Contents::Discard } else { Contents::Keep }
}

/// The fields that tell one create from another.
pub(super) fn request(name: &BucketName, protocols: &BTreeSet<Protocol>, parameters: &Parameters) -> Request {
    Request {
        name: name.to_string(),
        protocols: protocols.iter().map(Protocol::to_string).collect(),
        parameters: parameters.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use cosi_driver_sdk::ErrorKind;
    use rstest::rstest;

    use super::*;

    fn given(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().copied().collect()
    }

    #[rstest]
    #[case(&[], Contents::Keep)]
    #[case(&[("deleteNonEmpty", "false")], Contents::Keep)]
    #[case(&[("deleteNonEmpty", "true")], Contents::Discard)]
    fn known_parameters_are_accepted(#[case] pairs: &[(&str, &str)], #[case] expected: Contents) {
        assert_eq!(check(&BTreeSet::new(), &given(pairs)), Ok(()));
        assert_eq!(contents(&given(pairs)), expected);
    }

    #[rstest]
    #[case(&[("deleteNonEmpty", "TRUE")], "deleteNonEmpty")]
    #[case(&[("deletenonempty", "true")], "deletenonempty")]
    #[case(&[("a", "1"), ("b", "2")], "\"a\", \"b\"")]
    fn a_parameter_that_is_not_understood_is_named_and_discards_nothing(
        #[case] pairs: &[(&str, &str)],
        #[case] named: &str,
    ) {
        let error = check(&BTreeSet::new(), &given(pairs)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.message().contains(named), "{error}");
        assert_eq!(contents(&given(pairs)), Contents::Keep);
    }

    #[test]
    fn a_protocol_other_than_s3_is_refused_by_name() {
        assert_eq!(check(&[Protocol::S3].into(), &given(&[])), Ok(()));
        let error = check(&[Protocol::S3, Protocol::Gcs].into(), &given(&[])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.message().contains("GCS"));
    }
}
