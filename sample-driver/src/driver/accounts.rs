//! What the driver understands of a request for an access, and what it hands out.

use std::collections::{BTreeMap, BTreeSet};

use cosi_driver_sdk::{
    AccessMode, Authentication, Credentials, DriverError, GrantAccessRequest, Parameters, Protocol,
    RevokeAccessByNameRequest, S3Credentials, Secret,
};

use crate::store::{AccountRequest, BucketId, KeyPair, Scope};

/// The fields that tell one grant from another.
///
/// # Errors
/// `INVALID_ARGUMENT` that names what isn't supported.
pub(super) fn wanted(request: &GrantAccessRequest) -> Result<AccountRequest, DriverError> {
    check(request.protocol, &request.authentication, &request.parameters)?;
    let bucket = |id: &str| id.parse::<BucketId>().map_err(|e| DriverError::invalid_argument(e.to_string()));
    let mut buckets = BTreeMap::new();
    for wanted in &request.buckets {
        buckets.insert(bucket(wanted.bucket_id.as_str())?, scope(wanted.mode));
    }
    Ok(AccountRequest { name: request.account_name.to_string(), buckets })
}

/// The buckets of a grant that is to be undone; `None` if [`wanted`] would refuse it.
pub(super) fn undone(request: &RevokeAccessByNameRequest) -> Option<BTreeSet<BucketId>> {
    check(request.protocol, &request.authentication, &request.parameters).ok()?;
    request.buckets.iter().map(|id| id.as_str().parse().ok()).collect()
}

fn check(
    protocol: Protocol,
    authentication: &Authentication,
    parameters: &Parameters,
) -> Result<(), DriverError> {
    if protocol != Protocol::S3 {
        return Err(DriverError::invalid_argument(format!("protocol {protocol} isn't supported; S3 is")));
    }
    if *authentication != Authentication::Key {
        return Err(DriverError::invalid_argument(
            "authentication type ServiceAccount isn't supported, as this S3 server knows no Kubernetes service accounts; \
             Key is",
        ));
    }
    parameters.only(&[])
}

fn scope(mode: AccessMode) -> Scope {
    match mode {
        AccessMode::ReadWrite => Scope { read: true, write: true },
        AccessMode::ReadOnly => Scope { read: true, write: false },
        AccessMode::WriteOnly => Scope { read: false, write: true },
    }
}

pub(super) fn credentials(key: KeyPair) -> Credentials {
    Credentials::S3(S3Credentials {
        access_key_id: Secret::new(key.access_key),
        access_secret_key: Secret::new(key.secret.expose()),
    })
}

#[cfg(test)]
mod tests {
    use cosi_driver_sdk::{AccessedBucket, ErrorKind};
    use rstest::rstest;

    use super::*;

    fn grant() -> GrantAccessRequest {
        let bucket = |id: &str, mode| AccessedBucket { bucket_id: id.parse().unwrap(), mode };
        GrantAccessRequest {
            account_name: "ba-1".parse().unwrap(),
            protocol: Protocol::S3,
            authentication: Authentication::Key,
            parameters: Parameters::default(),
            buckets: vec![
                bucket("bc-3", AccessMode::WriteOnly),
                bucket("bc-1", AccessMode::ReadWrite),
                bucket("bc-2", AccessMode::ReadOnly),
            ],
        }
    }

    fn undo(request: &GrantAccessRequest) -> RevokeAccessByNameRequest {
        RevokeAccessByNameRequest {
            account_name: request.account_name.clone(),
            protocol: request.protocol,
            authentication: request.authentication.clone(),
            parameters: request.parameters.clone(),
            buckets: request.buckets.iter().map(|bucket| bucket.bucket_id.clone()).collect(),
        }
    }

    /// C34, COSI-GRANT-5.
    #[test]
    fn each_bucket_gets_its_own_mode() {
        let wanted = wanted(&grant()).unwrap();
        let modes: Vec<_> =
            wanted.buckets.iter().map(|(id, may)| (id.as_str(), may.read, may.write)).collect();
        assert_eq!(modes, [("bc-1", true, true), ("bc-2", true, false), ("bc-3", false, true)]);
        assert_eq!(undone(&undo(&grant())), Some(wanted.buckets.into_keys().collect()));
    }

    #[rstest]
    #[case::protocol(|grant: &mut GrantAccessRequest| grant.protocol = Protocol::Azure, "Azure")]
    #[case::authentication(
        |grant: &mut GrantAccessRequest| grant.authentication = Authentication::ServiceAccount { name: "app".into() },
        "ServiceAccount isn't supported"
    )]
    #[case::parameter(|grant: &mut GrantAccessRequest| grant.parameters = [("tpyo", "1")].into_iter().collect(), "tpyo")]
    #[case::bucket(|grant: &mut GrantAccessRequest| grant.buckets[0].bucket_id = "Not/A_Name".parse().unwrap(), "Not/A_Name")]
    fn what_is_not_supported_is_refused_by_name_and_nothing_is_undone_for_it(
        #[case] change: fn(&mut GrantAccessRequest),
        #[case] named: &str,
    ) {
        let mut request = grant();
        change(&mut request);
        let error = wanted(&request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.message().contains(named), "{error}");
        assert_eq!(undone(&undo(&request)), None);
    }
}
