//! The form of requests.

use cosi_proto::v1alpha2 as wire;
use tonic::Status;

use super::vice::Vice;

type Checked = Result<(), Status>;

fn invalid(what: &str) -> Checked {
    Err(Status::invalid_argument(format!("{what} is not valid")))
}

pub(crate) fn name(vice: Vice, field: &str, name: &str) -> Checked {
    if name.is_empty() && vice == Vice::EmptyNameAccepted {
        return Ok(());
    }
    let label = |label: &str| {
        let plain = label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        !label.is_empty() && plain && !label.starts_with('-') && !label.ends_with('-')
    };
    if name.len() > 253 || !name.split('.').all(label) {
        return invalid(field);
    }
    assert!(vice != Vice::PanicsOnLongNames || name.len() < 200, "a name that long");
    Ok(())
}

pub(crate) fn id(vice: Vice, field: &str, id: &str) -> Checked {
    let own = id.starts_with("b:") || id.starts_with("conformance-");
    let lax = own && matches!(vice, Vice::EndlessBucketId | Vice::BucketIdWithColon);
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c) || (lax && c == ':');
    if id.is_empty() || (id.len() > 2048 && !lax) || !id.chars().all(plain) { invalid(field) } else { Ok(()) }
}

pub(crate) fn protocols(vice: Vice, protocols: &[wire::ObjectProtocol]) -> Checked {
    let mut seen = Vec::new();
    for protocol in protocols {
        match protocol.r#type {
            1 => {}
            2 | 3 if vice == Vice::UnsupportedProtocolAccepted => {}
            other if vice == Vice::UnknownProtocolAccepted && !(1..=3).contains(&other) => {}
            _ => return invalid("protocols"),
        }
        if seen.contains(&protocol.r#type) {
            return invalid("protocols");
        }
        seen.push(protocol.r#type);
    }
    Ok(())
}

pub(crate) fn parameters<'a>(
    vice: Vice,
    parameters: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Checked {
    for (key, value) in parameters {
        match key.as_str() {
            "color" => {}
            _ if vice == Vice::UnknownParameterAccepted => {}
            _ if vice == Vice::ParameterInMessage => {
                return Err(Status::invalid_argument(format!("parameter {key}={value:.50} is not known")));
            }
            _ => return Err(Status::invalid_argument(format!("parameter {key} is not known"))),
        }
    }
    Ok(())
}

pub(crate) fn grant(vice: Vice, request: &wire::DriverGrantBucketAccessRequest) -> Checked {
    name(Vice::None, "account_name", &request.account_name)?;
    if request.protocol.is_none_or(|protocol| protocol.r#type != 1) {
        return invalid("protocol");
    }
    match request.authentication_type.map_or(0, |authentication| authentication.r#type) {
        1 => {}
        2 if vice == Vice::ServiceAccountInternal => return Err(Status::internal("no such thing")),
        0 | 99 if vice == Vice::UnknownAuthenticationAccepted => {}
        _ => return invalid("authentication_type"),
    }
    if let Some(key) = request.parameters.keys().next() {
        return Err(Status::invalid_argument(format!("parameter {key} is not known")));
    }
    let mut seen = Vec::new();
    for bucket in &request.buckets {
        id(vice, "bucket_id", &bucket.bucket_id)?;
        let mode = bucket.access_mode.map_or(0, |mode| mode.mode);
        if !(1..=3).contains(&mode) && vice != Vice::UnknownModeAccepted {
            return invalid("access_mode");
        }
        if seen.contains(&&bucket.bucket_id) {
            return invalid("buckets");
        }
        seen.push(&bucket.bucket_id);
    }
    if seen.is_empty() { invalid("buckets") } else { Ok(()) }
}
