//! Who the driver says it is.

use std::collections::BTreeSet;

use cosi_api::value::{DriverName, InvalidValue};
use cosi_proto::v1alpha2::{DriverGetInfoResponse, object_protocol};

/// A checked answer of DriverGetInfo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The driver's name.
    pub name: DriverName,
}

/// An answer of DriverGetInfo that breaks the protocol.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum IdentityError {
    /// The name is none.
    #[error("the driver's name cannot be used")]
    Name(#[source] InvalidValue),
    /// No protocol at all.
    #[error("the driver names no supported protocol")]
    NoProtocol,
    /// UNKNOWN, or a number that the protocol does not define.
    #[error("the driver names a protocol that does not exist ({0})")]
    UnknownProtocol(i32),
    /// The same protocol twice.
    #[error("the driver names a protocol twice ({0})")]
    DuplicateProtocol(i32),
}

impl Identity {
    /// Checks an answer.
    ///
    /// # Errors
    ///
    /// [`IdentityError`] says which rule it breaks.
    pub fn of(info: DriverGetInfoResponse) -> Result<Self, IdentityError> {
        let name = DriverName::try_from(info.name).map_err(IdentityError::Name)?;
        let mut seen = BTreeSet::new();
        for number in info.supported_protocols.into_iter().map(|p| p.r#type) {
            match object_protocol::Type::try_from(number) {
                Ok(object_protocol::Type::Unknown) | Err(_) => {
                    return Err(IdentityError::UnknownProtocol(number));
                }
                Ok(_) if !seen.insert(number) => return Err(IdentityError::DuplicateProtocol(number)),
                Ok(_) => {}
            }
        }
        if seen.is_empty() {
            return Err(IdentityError::NoProtocol);
        }
        Ok(Self { name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosi_proto::v1alpha2::ObjectProtocol;

    fn of(name: &str, protocols: &[i32]) -> Result<Identity, IdentityError> {
        let supported_protocols = protocols.iter().map(|n| ObjectProtocol { r#type: *n }).collect();
        Identity::of(DriverGetInfoResponse { name: name.to_owned(), supported_protocols })
    }

    #[test]
    fn a_driver_has_a_name_and_at_least_one_protocol_each_once() {
        assert!(of("d.example.com", &[1, 3]).is_ok());
        assert!(matches!(of("", &[1]), Err(IdentityError::Name(_))));
        assert!(matches!(of("Upper.example.com", &[1]), Err(IdentityError::Name(_))));
        assert_eq!(of("d.example.com", &[]), Err(IdentityError::NoProtocol));
        assert_eq!(of("d.example.com", &[0]), Err(IdentityError::UnknownProtocol(0)));
        assert_eq!(of("d.example.com", &[9]), Err(IdentityError::UnknownProtocol(9)));
        assert_eq!(of("d.example.com", &[2, 2]), Err(IdentityError::DuplicateProtocol(2)));
    }
}
