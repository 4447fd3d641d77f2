//! The mark that a driver leaves on what it makes.

use std::fmt;
use std::str::FromStr;

use super::fingerprint::Fingerprint;
use crate::error::DriverError;
use crate::model::info::DriverInfo;
use crate::model::value::{InvalidValue, Problem};

const DRIVER: &str = "cosi_driver";
const NAME: &str = "cosi_name";
const REQUEST: &str = "cosi_request";
/// What a mark in one line begins with.
const PREFIX: &str = "cosi";

/// Which driver made a bucket or an account, under which name, for which request: for tags, labels, metadata or a
/// description at the backend, written together with the making (COSI-CREATE-4, COSI-GRANT-4).
///
/// A driver whose backend has no room for it keeps a [`NameLedger`](crate::NameLedger).
///
/// ```
/// # use cosi_driver_sdk::{CreateBucketRequest, DriverError, DriverInfo, OwnerMark, Protocol};
/// # fn existing_tags() -> Vec<(String, String)> { vec![] }
/// # fn create(request: CreateBucketRequest) -> Result<(), DriverError> {
/// # let info = DriverInfo::new("example.com", [Protocol::S3])?;
/// let mine = OwnerMark::new(&info, &request.name, &request);
/// let tags_to_set = mine.to_tags();
/// // The bucket is there already: whose is it?
/// let tags = existing_tags();
/// let found = OwnerMark::from_tags(tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
/// mine.compare(found.as_ref()).or_already_exists(&request.name)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OwnerMark {
    driver: String,
    name: String,
    request: Fingerprint,
}

/// What a mark says about a bucket or account that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ownership {
    /// This very request made it.
    Same,
    /// This driver made it under this name, for a request with other fields.
    OtherRequest,
    /// Somebody else made it, or nobody knows who did.
    Foreign,
}

impl OwnerMark {
    /// The mark of what this driver makes for this name and request.
    pub fn new(driver: &DriverInfo, name: impl AsRef<str>, request: impl Into<Fingerprint>) -> Self {
        Self { driver: driver.name().to_owned(), name: name.as_ref().to_owned(), request: request.into() }
    }

    /// Three pairs. Keys are lower-case letters and `_`, which backends allow nearly everywhere; values are at most 253
    /// characters, lower-case letters, digits, `-` and `.`. Whoever has less room stores the [one
    /// line](Self#impl-Display-for-OwnerMark) elsewhere.
    #[must_use]
    pub fn to_tags(&self) -> [(&'static str, String); 3] {
        [(DRIVER, self.driver.clone()), (NAME, self.name.clone()), (REQUEST, self.request.to_string())]
    }

    /// The mark among these tags; `None` if it is not there, or not whole.
    pub fn from_tags<'a>(tags: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let (mut driver, mut name, mut request) = (None, None, None);
        for (key, value) in tags {
            match key {
                DRIVER => driver = Some(value.to_owned()),
                NAME => name = Some(value.to_owned()),
                REQUEST => request = Some(value.parse().ok()?),
                _ => {}
            }
        }
        Some(Self { driver: driver?, name: name?, request: request? })
    }

    /// What the mark that was found says to a request that would leave `self`.
    #[must_use]
    pub fn compare(&self, found: Option<&Self>) -> Ownership {
        match found {
            Some(found) if found.driver == self.driver && found.name == self.name => {
                if self.request.matches(&found.request) { Ownership::Same } else { Ownership::OtherRequest }
            }
            _ => Ownership::Foreign,
        }
    }
}

impl Ownership {
    /// Whether the request made it: a create or grant goes on with it, and an undo deletes it. Anything else an undo
    /// leaves alone, with OK (COSI-DELNAME-3, COSI-REVNAME-3).
    #[must_use]
    pub fn is_same(self) -> bool {
        self == Self::Same
    }

    /// What a create or grant of this name answers (COSI-CREATE-3, COSI-GRANT-3).
    ///
    /// # Errors
    /// ALREADY_EXISTS, if the request did not make it.
    pub fn or_already_exists(self, name: impl fmt::Display) -> Result<(), DriverError> {
        let reason = match self {
            Self::Same => return Ok(()),
            Self::OtherRequest => "was made by this driver for a request with other fields",
            Self::Foreign => "is there already and was not made by this driver",
        };
        Err(DriverError::already_exists(format!("{name} {reason}")))
    }
}

/// In one line of at most 390 characters, for a description or a comment; `FromStr` reads it.
impl fmt::Display for OwnerMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}:{}:{}:{}", self.driver, self.name, self.request)
    }
}

impl FromStr for OwnerMark {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Vec<_> = text.split(':').collect();
        let [PREFIX, driver, name, request] = parts[..] else {
            return Err(InvalidValue::new(
                "owner mark",
                Problem::Form { expected: "one that a driver wrote" },
            ));
        };
        Ok(Self { driver: driver.to_owned(), name: name.to_owned(), request: request.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::model::protocol::Protocol;
    use crate::model::requests::CreateBucketRequest;
    use rstest::rstest;

    fn request(tier: &str) -> CreateBucketRequest {
        let parameters = [("tier", tier)].into_iter().collect();
        CreateBucketRequest { name: "bc-1".parse().unwrap(), protocols: [].into(), parameters }
    }

    fn mark(driver: &str, name: &str, tier: &str) -> OwnerMark {
        OwnerMark::new(&DriverInfo::new(driver, [Protocol::S3]).unwrap(), name, &request(tier))
    }

    #[rstest]
    #[case(Some(mark("a.example.com", "bc-1", "hot")), Ownership::Same)]
    #[case(Some(mark("a.example.com", "bc-1", "cold")), Ownership::OtherRequest)]
    #[case(Some(mark("b.example.com", "bc-1", "hot")), Ownership::Foreign)]
    #[case(Some(mark("a.example.com", "bc-2", "hot")), Ownership::Foreign)]
    #[case(None, Ownership::Foreign)]
    fn a_mark_tells_whose_it_is(#[case] found: Option<OwnerMark>, #[case] expected: Ownership) {
        let ownership = mark("a.example.com", "bc-1", "hot").compare(found.as_ref());
        assert_eq!(ownership, expected);
        let kind = ownership.or_already_exists("bc-1").map_err(|error| error.kind());
        assert_eq!(kind, if ownership.is_same() { Ok(()) } else { Err(ErrorKind::AlreadyExists) });
    }

    #[test]
    fn a_mark_survives_tags_among_others_and_one_line() {
        let mine = mark("a.example.com", "bc-1", "hot");
        let tags = mine.to_tags();
        let among_others =
            [("colour", "red")].into_iter().chain(tags.iter().map(|(key, value)| (*key, value.as_str())));
        assert_eq!(OwnerMark::from_tags(among_others), Some(mine.clone()));
        assert_eq!(mine.to_string().parse(), Ok(mine));
    }

    /// Half a mark may be somebody's copy of some tags.
    #[test]
    fn a_mark_that_is_not_whole_is_none() {
        let tags = mark("a.example.com", "bc-1", "hot").to_tags();
        for missing in 0..tags.len() {
            let rest = tags.iter().enumerate().filter(|(index, _)| *index != missing);
            assert_eq!(OwnerMark::from_tags(rest.map(|(_, (key, value))| (*key, value.as_str()))), None);
        }
        let other = mark("a.example.com", "bc-1", "hot").to_string().replacen("cosi", "csi", 1);
        for text in ["", "cosi", "cosi:a:b", "cosi:a:b:c", "cosi:a:b:c:d", &other] {
            assert!(text.parse::<OwnerMark>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_longest_mark_fits_into_what_the_documentation_says() {
        let driver = format!("{0}.{0}", "a".repeat(31));
        let longest = mark(&driver, &"a".repeat(253), "hot").to_string();
        assert!(longest.len() <= 390 - 33, "{}", longest.len());
    }
}
