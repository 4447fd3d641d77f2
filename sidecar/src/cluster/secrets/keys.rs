//! Under which names values are stored: COSI's own, those that AWS tools read, or both.

use std::collections::BTreeSet;

use cosi_api::keys::{aws, s3};
use cosi_lifecycle::access::SecretData;
use k8s_openapi::ByteString;
use serde_json::{Map, Value, json};

use crate::settings::SecretKeys;

/// What has two names.
const PAIRS: [(&str, &str); 6] = [
    (s3::BUCKET_ID, aws::BUCKET_NAME),
    (s3::ENDPOINT, aws::ENDPOINT_URL),
    (s3::REGION, aws::DEFAULT_REGION),
    (s3::ADDRESSING_STYLE, aws::S3_ADDRESSING_STYLE),
    (s3::ACCESS_KEY_ID, aws::ACCESS_KEY_ID),
    (s3::ACCESS_SECRET_KEY, aws::SECRET_ACCESS_KEY),
];

impl SecretKeys {
    /// The field `data` of a Secret that holds `data`.
    pub(super) fn written(self, data: &SecretData) -> Map<String, Value> {
        let mut map = Map::new();
        for (key, value) in data.iter() {
            for name in self.names(key) {
                map.insert(name.to_owned(), json!(ByteString(value.as_bytes().to_vec())));
            }
        }
        map
    }

    /// The names under which the values of `data` are not stored: the switch may have been another one before.
    pub(super) fn other_names(self, data: &SecretData) -> impl Iterator<Item = &'static str> {
        PAIRS.into_iter().filter(|(cosi, _)| data.get(cosi).is_some()).filter_map(move |(cosi, aws)| {
            match self {
                Self::Cosi => Some(aws),
                Self::Aws => Some(cosi),
                Self::Both => None,
            }
        })
    }

    /// The keys of COSI that have a value under each name that this switch asks for, out of all names that have one.
    pub(super) fn read(self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let has_two = |name: &str| PAIRS.iter().any(|(cosi, aws)| *cosi == name || *aws == name);
        let single = names.iter().filter(|name| !has_two(name)).map(String::as_str);
        let paired = PAIRS.iter().map(|(cosi, _)| *cosi);
        let complete = paired.filter(|cosi| self.names(cosi).all(|name| names.contains(name)));
        single.chain(complete).map(str::to_owned).collect()
    }

    /// The names of one of COSI's keys.
    fn names(self, key: &str) -> impl Iterator<Item = &str> {
        let aws = PAIRS.iter().find(|(cosi, _)| *cosi == key).map(|(_, aws)| *aws);
        let cosi = (self != Self::Aws || aws.is_none()).then_some(key);
        cosi.into_iter().chain(aws.filter(|_| self != Self::Cosi))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosi_api::keys::{PROTOCOL, azure};

    fn data() -> SecretData {
        let mut data = SecretData::default();
        for (cosi, _) in PAIRS {
            data.set(cosi, "v".to_owned());
        }
        data.set(PROTOCOL, "S3".to_owned());
        data
    }

    #[rstest::rstest]
    #[case(SecretKeys::Cosi, 7, 6)]
    #[case(SecretKeys::Aws, 7, 6)]
    #[case(SecretKeys::Both, 13, 0)]
    fn whatever_is_written_under_a_switch_reads_back_as_cosis_own_keys(
        #[case] keys: SecretKeys,
        #[case] names: usize,
        #[case] other_names: usize,
    ) {
        let map = keys.written(&data());
        assert_eq!(map.len(), names);
        assert_eq!(map[PROTOCOL], json!("UzM="), "base64, and the same name always");
        let all: BTreeSet<_> = data().iter().map(|(key, _)| key.to_owned()).collect();
        assert_eq!(keys.read(&map.keys().cloned().collect()), all);
        let others: Vec<_> = keys.other_names(&data()).collect();
        assert_eq!(others.len(), other_names);
        assert!(others.iter().all(|name| !map.contains_key(*name)));
    }

    #[test]
    fn a_secret_of_another_switch_lacks_keys_so_that_it_is_written_again() {
        let names = |keys: SecretKeys| keys.written(&data()).keys().cloned().collect::<BTreeSet<_>>();
        for (written, read) in [
            (SecretKeys::Cosi, SecretKeys::Aws),
            (SecretKeys::Aws, SecretKeys::Cosi),
            (SecretKeys::Cosi, SecretKeys::Both),
            (SecretKeys::Aws, SecretKeys::Both),
        ] {
            let keys = read.read(&names(written));
            assert_eq!(keys.into_iter().collect::<Vec<_>>(), [PROTOCOL], "{written:?} read as {read:?}");
        }
    }

    #[test]
    fn only_s3_has_other_names() {
        let mut data = SecretData::default();
        data.set(azure::ACCESS_TOKEN, "t".to_owned());
        for keys in [SecretKeys::Cosi, SecretKeys::Aws, SecretKeys::Both] {
            assert_eq!(keys.written(&data).keys().collect::<Vec<_>>(), [azure::ACCESS_TOKEN]);
            assert_eq!(keys.other_names(&data).count(), 0);
        }
    }
}
