//! A signed request.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningError, SigningSettings,
    UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4;
use bytes::Bytes;
use http::uri::{Authority, InvalidUri, PathAndQuery, Scheme};
use http::{Request, Uri};

use super::{Access, Body, Deed};

/// The request can't be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum SignError {
    #[error("it is not a URL")]
    Url(#[from] InvalidUri),
    #[error("it is not a URL")]
    Parts(#[from] http::Error),
    #[error("it has no host")]
    Host,
    #[error("the request can't be signed")]
    Sign(#[from] SigningError),
    #[error("the request can't be signed")]
    Parameters(#[from] v4::signing_params::BuildError),
}

pub(super) fn request(
    access: &Access,
    deed: Deed,
    key: &str,
    content: &'static [u8],
) -> Result<Request<Body>, SignError> {
    let uri = address(access, key)?;
    let host = uri.authority().ok_or(SignError::Host)?.to_string();
    let method = match deed {
        Deed::Put => "PUT",
        Deed::Get => "GET",
        Deed::Delete => "DELETE",
    };
    let credentials = Credentials::new(&access.key_id, &access.secret, None, None, "granted").into();
    let mut settings = SigningSettings::default();
    settings.percent_encoding_mode = PercentEncodingMode::Single;
    settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
    settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    let parameters = v4::SigningParams::builder().identity(&credentials).region(&access.region).name("s3");
    let parameters = parameters.time(SystemTime::now()).settings(settings).build()?.into();
    let headers = [("host", host.as_str())].into_iter();
    let unsigned = SignableRequest::new(method, uri.to_string(), headers, SignableBody::Bytes(content))?;
    let (signature, _) = sign(unsigned, &parameters)?.into_parts();
    let mut request = Request::builder().method(method).uri(uri).header("host", host);
    for (name, value) in signature.headers() {
        request = request.header(name, value);
    }
    Ok(request.body(Body::new(Bytes::from_static(content)))?)
}

/// Where the object is; keys are made of characters that need no escapes.
fn address(access: &Access, key: &str) -> Result<Uri, SignError> {
    let base: Uri = access.endpoint.parse()?;
    let host = base.authority().ok_or(SignError::Host)?;
    let below = base.path().trim_end_matches('/');
    let (host, path) = if access.virtual_host {
        (format!("{}.{host}", access.bucket), format!("{below}/{key}"))
    } else {
        (host.to_string(), format!("{below}/{}/{key}", access.bucket))
    };
    let uri = Uri::builder()
        .scheme(base.scheme().cloned().unwrap_or(Scheme::HTTP))
        .authority(Authority::try_from(host)?)
        .path_and_query(PathAndQuery::try_from(path)?);
    Ok(uri.build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(endpoint: &str, virtual_host: bool) -> Access {
        Access {
            endpoint: endpoint.into(),
            bucket: "bc-1".into(),
            virtual_host,
            region: "here".into(),
            key_id: "AKID".into(),
            secret: "canary".into(),
        }
    }

    #[test]
    fn the_bucket_goes_into_the_path_or_into_the_host() {
        let url =
            |endpoint, virtual_host| address(&access(endpoint, virtual_host), "k").map(|uri| uri.to_string());
        assert_eq!(url("http://s3.example.com:9000", false).unwrap(), "http://s3.example.com:9000/bc-1/k");
        assert_eq!(url("https://s3.example.com/store", true).unwrap(), "https://bc-1.s3.example.com/store/k");
        assert!(url("not a url", false).is_err() && url("/path", false).is_err());
    }

    #[test]
    fn a_request_bears_a_signature_and_not_the_secret() {
        let request = request(&access("http://s3.example.com", false), Deed::Put, "k", b"x").unwrap();
        let headers = format!("{:?}", request.headers());
        assert!(
            headers.contains("Credential=AKID/") && headers.contains("/here/s3/aws4_request"),
            "{headers}"
        );
        assert!(!headers.contains("canary"));
    }
}
