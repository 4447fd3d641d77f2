use super::*;
use proptest::prelude::*;
use regex::Regex;
use std::str::FromStr;

/// What the API server's own format checks and the CRD patterns accept, as regular expressions.
const ID: &str = r"^[a-zA-Z0-9/._-]+$";
const SUBDOMAIN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
const RFC1035: &str = r"^[a-z]([-a-z0-9]*[a-z0-9])?(\.[a-z]([-a-z0-9]*[a-z0-9])?)*$";
const CRD_DRIVER_NAME: &str = r"^[a-zA-Z0-9]([a-zA-Z0-9\-\.]{0,61}[a-zA-Z0-9])?$";

fn accepted<T: FromStr>(text: &str) -> bool {
    text.parse::<T>().is_ok()
}

/// Short texts of the characters at which the rules differ, a few that nobody allows, and long valid ones.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[aZ0./_-]{0,6}",
        "[az09.-]{1,9}",
        "[a-c9 \n\u{e9}\u{1F980}\\\\:.-]{0,8}",
        "[a-z]{60,66}",
        "[a-z0-9.]{250,256}"
    ]
}

proptest! {
    #[test]
    fn ids_are_what_the_crd_pattern_accepts(text in text()) {
        let expected = Regex::new(ID).unwrap().is_match(&text);
        prop_assert_eq!(accepted::<BucketId>(&text), expected);
        prop_assert_eq!(accepted::<AccountId>(&text), expected);
    }

    #[test]
    fn names_are_dns_1123_subdomains(text in text()) {
        let expected = Regex::new(SUBDOMAIN).unwrap().is_match(&text) && text.len() <= 253;
        prop_assert_eq!(accepted::<BucketName>(&text), expected);
        prop_assert_eq!(accepted::<AccountName>(&text), expected);
    }

    #[test]
    fn driver_names_are_rfc_1035_labels_and_pass_the_crd_pattern(text in text()) {
        let expected = Regex::new(RFC1035).unwrap().is_match(&text) && text.len() <= 63;
        prop_assert_eq!(accepted::<DriverName>(&text), expected);
        prop_assert!(!expected || Regex::new(CRD_DRIVER_NAME).unwrap().is_match(&text));
    }

    #[test]
    fn a_value_gives_back_the_text_it_was_made_of(text in "[a-zA-Z0-9/._-]{1,40}") {
        let id: BucketId = text.parse().unwrap();
        prop_assert_eq!(id.as_str(), &text);
        prop_assert_eq!(id.to_string(), text.clone());
        prop_assert_eq!(serde_json::to_value(&id).unwrap(), serde_json::json!(text.clone()));
        prop_assert_eq!(String::from(id), text);
    }
}

#[test]
fn limits_are_inclusive() {
    assert!(accepted::<BucketId>(&"x".repeat(2048)));
    assert!(!accepted::<BucketId>(&"x".repeat(2049)));
    assert!(accepted::<BucketName>(&"x".repeat(253)));
    assert!(!accepted::<BucketName>(&"x".repeat(254)));
    assert!(accepted::<DriverName>(&"x".repeat(63)));
    assert!(!accepted::<DriverName>(&"x".repeat(64)));
}

#[test]
fn the_newline_that_some_pattern_engines_forgive_at_the_end_is_refused() {
    assert!(!accepted::<BucketId>("abc\n"));
    assert!(!accepted::<DriverName>("abc\n"));
    assert!(!accepted::<BucketName>("abc\n"));
}

#[test]
fn each_refusal_says_in_one_sentence_what_is_wrong() {
    let cases = [
        (BucketId::from_str("").map(drop), "the bucket id is empty"),
        (
            AccountId::from_str(&"é".repeat(2049)).map(drop),
            "the account id has 2049 characters, but at most 2048 are allowed",
        ),
        (
            BucketId::from_str("a\u{1b}b").map(drop),
            r"the bucket id has '\u{1b}' at position 2, where only letters, digits, '/', '.', '_' and '-' can stand",
        ),
        (
            DriverName::from_str("s3.9.example").map(drop),
            "the driver name has '9' at position 4, where only a lower-case letter can stand",
        ),
        (
            DriverName::from_str("éa").map(drop),
            "the driver name has 'é' at position 1, where only a lower-case letter can stand",
        ),
        (
            BucketName::from_str("bc-x-.y").map(drop),
            "the bucket name has '-' at position 5, where only a lower-case letter or a digit can stand",
        ),
        (
            BucketName::from_str("bc..x").map(drop),
            "the bucket name has nothing before, after, or between its dots (at position 4)",
        ),
    ];
    for (result, sentence) in cases {
        assert_eq!(result.unwrap_err().to_string(), sentence);
    }
}

#[test]
fn reading_an_invalid_value_fails_instead_of_keeping_it() {
    assert!(serde_json::from_str::<BucketId>(r#""a b""#).is_err());
    assert_eq!(serde_json::from_str::<BucketId>(r#""a/b""#).unwrap().as_str(), "a/b");
}

#[test]
fn names_of_backend_things_are_derived_from_uids_and_nothing_else() {
    let uid = "0b0e1bd5-9a1c-4f3b-9d0e-3b1f3c7a9f11";
    assert_eq!(BucketName::for_claim(uid).unwrap().as_str(), format!("bc-{uid}"));
    assert_eq!(AccountName::for_access(uid).unwrap().as_str(), format!("ba-{uid}"));
    assert!(BucketName::for_claim("").is_err());
    assert!(AccountName::for_access("A/B").is_err());
}

#[test]
fn a_value_takes_two_words() {
    assert_eq!(size_of::<BucketId>(), 2 * size_of::<usize>());
    assert_eq!(size_of::<Option<BucketId>>(), 2 * size_of::<usize>());
}
