//! What tells one request for a name from another.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::model::access::{AccessMode, Authentication};
use crate::model::ids::BucketId;
use crate::model::parameters::Parameters;
use crate::model::protocol::Protocol;
use crate::model::requests::{
    CreateBucketRequest, DeleteBucketByNameRequest, GrantAccessRequest, RevokeAccessByNameRequest,
};
use crate::model::value::{InvalidValue, Problem};

/// Says how the rest was made: another way of hashing needs another number.
const VERSION: &str = "1";
/// Bytes of each hash.
const SIZE: usize = 16;

/// A hash of all fields of a request but the name: equal for a request, its repetition and its undo.
///
/// Text of at most 67 characters, letters, digits and `-`, that can stand in a tag and be parsed again. A person who
/// may read it can try out guesses of parameter values against it; so whoever puts secrets into parameters should not
/// let others read the tags.
///
/// ```
/// use cosi_driver_sdk::{CreateBucketRequest, DeleteBucketByNameRequest, Fingerprint, Parameters};
/// let parameters: Parameters = [("tier", "cold")].into_iter().collect();
/// let create = CreateBucketRequest { name: "bc-1".parse()?, protocols: [].into(), parameters: parameters.clone() };
/// let undo = DeleteBucketByNameRequest { name: "bc-1".parse()?, protocols: [].into(), parameters };
/// assert!(Fingerprint::from(&create).matches(&Fingerprint::from(&undo)));
/// # Ok::<_, cosi_driver_sdk::InvalidValue>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// Of what request and undo have in common.
    common: String,
    /// Of the access modes, which an undo doesn't have.
    modes: Option<String>,
}

impl Fingerprint {
    /// Whether the requests are the same. Access modes count only if both have some: the undo of a grant has none.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        let same_modes = match (&self.modes, &other.modes) {
            (Some(one), Some(another)) => one == another,
            _ => true,
        };
        self.common == other.common && same_modes
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VERSION}-{}", self.common)?;
        self.modes.as_ref().map_or(Ok(()), |modes| write!(f, "-{modes}"))
    }
}

impl FromStr for Fingerprint {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split('-');
        let is_hash =
            |part: &&str| part.len() == 2 * SIZE && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(VERSION), Some(common), modes, None) if is_hash(&common) && modes.iter().all(is_hash) => {
                Ok(Self { common: common.to_owned(), modes: modes.map(str::to_owned) })
            }
            _ => {
                let problem = Problem::Form { expected: "of a form that this version writes" };
                Err(InvalidValue::new("fingerprint", problem))
            }
        }
    }
}

impl From<&CreateBucketRequest> for Fingerprint {
    fn from(request: &CreateBucketRequest) -> Self {
        of_bucket(request.protocols.iter().copied(), &request.parameters)
    }
}

impl From<&DeleteBucketByNameRequest> for Fingerprint {
    fn from(request: &DeleteBucketByNameRequest) -> Self {
        of_bucket(request.protocols.iter().copied(), &request.parameters)
    }
}

impl From<&GrantAccessRequest> for Fingerprint {
    fn from(request: &GrantAccessRequest) -> Self {
        let ids = request.buckets.iter().map(|bucket| &bucket.bucket_id).collect();
        let mut modes: Vec<_> =
            request.buckets.iter().map(|bucket| (&bucket.bucket_id, mode(bucket.mode))).collect();
        modes.sort_unstable();
        let mut hash = Hash::new("modes");
        for (bucket, mode) in modes {
            hash.add(bucket.as_str()).add(mode);
        }
        let common = of_account(request.protocol, &request.authentication, &request.parameters, ids);
        Self { common, modes: Some(hash.end()) }
    }
}

impl From<&RevokeAccessByNameRequest> for Fingerprint {
    fn from(request: &RevokeAccessByNameRequest) -> Self {
        let ids = request.buckets.iter().collect();
        let common = of_account(request.protocol, &request.authentication, &request.parameters, ids);
        Self { common, modes: None }
    }
}

fn of_bucket(protocols: impl Iterator<Item = Protocol>, parameters: &Parameters) -> Fingerprint {
    let mut hash = Hash::new("bucket");
    for protocol in protocols {
        hash.add(&protocol.to_string());
    }
    Fingerprint { common: hash.add("").add_all(parameters).end(), modes: None }
}

fn of_account(
    protocol: Protocol,
    authentication: &Authentication,
    parameters: &Parameters,
    mut buckets: Vec<&BucketId>,
) -> String {
    let mut hash = Hash::new("account");
    hash.add(&protocol.to_string());
    match authentication {
        Authentication::Key => hash.add("key"),
        Authentication::ServiceAccount { name } => hash.add("service account").add(name),
    };
    buckets.sort_unstable();
    for bucket in buckets {
        hash.add(bucket.as_str());
    }
    hash.add("").add_all(parameters).end()
}

fn mode(mode: AccessMode) -> &'static str {
    match mode {
        AccessMode::ReadWrite => "read write",
        AccessMode::ReadOnly => "read",
        AccessMode::WriteOnly => "write",
    }
}

/// Texts, each with its length before it, so that no two lists of them read alike.
struct Hash(Sha256);

impl Hash {
    fn new(kind: &str) -> Self {
        let mut hash = Self(Sha256::new());
        hash.add(kind);
        hash
    }

    fn add(&mut self, text: &str) -> &mut Self {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
        self
    }

    fn add_all(&mut self, parameters: &Parameters) -> &mut Self {
        parameters.iter().fold(self, |hash, (key, value)| hash.add(key).add(value))
    }

    fn end(&mut self) -> String {
        let bytes = self.0.clone().finalize();
        let number = bytes.iter().take(SIZE).fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        format!("{number:032x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::access::AccessedBucket;
    use rstest::rstest;

    fn create() -> CreateBucketRequest {
        CreateBucketRequest {
            name: "bc-1".parse().unwrap(),
            protocols: [Protocol::S3].into(),
            parameters: [("a", "bc")].into_iter().collect(),
        }
    }

    fn grant() -> GrantAccessRequest {
        let bucket = |id: &str, mode| AccessedBucket { bucket_id: id.parse().unwrap(), mode };
        GrantAccessRequest {
            account_name: "ba-1".parse().unwrap(),
            protocol: Protocol::S3,
            authentication: Authentication::Key,
            parameters: [("a", "bc")].into_iter().collect(),
            buckets: vec![bucket("a", AccessMode::ReadOnly), bucket("b", AccessMode::ReadWrite)],
        }
    }

    fn undo(grant: &GrantAccessRequest) -> RevokeAccessByNameRequest {
        let GrantAccessRequest { account_name, protocol, authentication, parameters, buckets } =
            grant.clone();
        let buckets = buckets.into_iter().map(|bucket| bucket.bucket_id).collect();
        RevokeAccessByNameRequest { account_name, protocol, authentication, parameters, buckets }
    }

    #[rstest]
    #[case::protocols(|request: &mut CreateBucketRequest| request.protocols.clear())]
    #[case::value(|request: &mut CreateBucketRequest| request.parameters = [("a", "bd")].into_iter().collect())]
    #[case::border(|request: &mut CreateBucketRequest| request.parameters = [("ab", "c")].into_iter().collect())]
    #[case::more(|request: &mut CreateBucketRequest| request.parameters = [("a", "bc"), ("d", "")].into_iter().collect())]
    fn creates_that_differ_in_a_field_do_not_match(#[case] change: fn(&mut CreateBucketRequest)) {
        let mut other = create();
        change(&mut other);
        assert!(Fingerprint::from(&create()).matches(&Fingerprint::from(&create())));
        assert!(!Fingerprint::from(&create()).matches(&Fingerprint::from(&other)));
    }

    /// A protocol is no parameter, whatever it is called.
    #[test]
    fn a_protocol_and_a_parameter_do_not_run_together() {
        let mut one = create();
        one.parameters = [("GCS", "")].into_iter().collect();
        let mut other = create();
        other.protocols.insert(Protocol::Gcs);
        other.parameters = [("", "")].into_iter().collect();
        assert!(!Fingerprint::from(&one).matches(&Fingerprint::from(&other)));
    }

    #[rstest]
    #[case::protocol(|grant: &mut GrantAccessRequest| grant.protocol = Protocol::Gcs)]
    #[case::authentication(|grant: &mut GrantAccessRequest| grant.authentication = Authentication::ServiceAccount { name: "a".into() })]
    #[case::parameters(|grant: &mut GrantAccessRequest| grant.parameters = Parameters::default())]
    #[case::buckets(|grant: &mut GrantAccessRequest| drop(grant.buckets.pop()))]
    fn grants_that_differ_in_a_field_match_neither_each_other_nor_the_others_undo(
        #[case] change: fn(&mut GrantAccessRequest),
    ) {
        let mut other = grant();
        change(&mut other);
        let (one, another) = (Fingerprint::from(&grant()), Fingerprint::from(&other));
        assert!(!one.matches(&another));
        assert!(!one.matches(&Fingerprint::from(&undo(&other))));
        assert!(another.matches(&Fingerprint::from(&undo(&other))));
    }

    /// COSI-GRANT-3, COSI-REVNAME-3: the undo doesn't know the modes.
    #[test]
    fn grants_that_differ_in_a_mode_match_each_others_undo_only() {
        let mut other = grant();
        other.buckets[0].mode = AccessMode::WriteOnly;
        let (one, another) = (Fingerprint::from(&grant()), Fingerprint::from(&other));
        assert!(!one.matches(&another));
        assert!(another.matches(&Fingerprint::from(&undo(&grant()))));
    }

    #[test]
    fn the_order_of_buckets_says_nothing() {
        let mut other = grant();
        other.buckets.reverse();
        assert_eq!(Fingerprint::from(&grant()), Fingerprint::from(&other));
        assert_eq!(Fingerprint::from(&undo(&grant())), Fingerprint::from(&undo(&other)));
    }

    /// What is in tags at a backend must be understood by every later version.
    #[test]
    fn the_text_stays_the_same_for_ever_and_can_be_read_again() {
        let texts = [
            (Fingerprint::from(&create()), "1-83a9782c1b9252fe858e59c6857ee867"),
            (
                Fingerprint::from(&grant()),
                "1-0ce77b957c88f083c47f51d6888b48d3-aea485781c7118593880a2953069681c",
            ),
            (Fingerprint::from(&undo(&grant())), "1-0ce77b957c88f083c47f51d6888b48d3"),
        ];
        for (fingerprint, text) in texts {
            assert_eq!(fingerprint.to_string(), text);
            assert_eq!(text.parse(), Ok(fingerprint));
        }
    }

    #[rstest]
    #[case("")]
    #[case("1")]
    #[case("1-")]
    #[case("2-00112233445566778899aabbccddeeff")]
    #[case("1-00112233445566778899aabbccddeef")]
    #[case("1-00112233445566778899aabbccddeefg")]
    #[case("1-00112233445566778899aabbccddeeff-")]
    #[case("1-00112233445566778899aabbccddeeff-00112233445566778899aabbccddeeff-")]
    fn other_text_is_no_fingerprint(#[case] text: &str) {
        assert!(text.parse::<Fingerprint>().is_err());
    }
}
