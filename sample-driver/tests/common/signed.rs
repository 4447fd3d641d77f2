//! Requests as an attacker with a valid key would send them: signed, and with a path that no client library would send.

use std::time::SystemTime;

use aws_sdk_s3::config::Credentials;
use aws_sigv4::{
    http_request::{
        PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings,
        UriPathNormalizationMode, sign,
    },
    sign::v4,
};
use cosi_sample_driver::store::KeyPair;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// The server's answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Answer {
    /// The S3 error code; empty if there is none.
    pub(crate) fn code(&self) -> &str {
        let after = self.text.split_once("<Code>").map_or("", |(_, after)| after);
        after.split_once("</Code>").map_or("", |(code, _)| code)
    }
}

/// A whole request, ready to be sent at any time.
pub(crate) struct Signed {
    address: String,
    text: String,
}

impl Signed {
    /// The path is sent as it is, neither tidied up nor encoded.
    pub(crate) fn new(endpoint: &str, key: &KeyPair, method: &str, path: &str) -> Self {
        Self::with(endpoint, key, method, path, &[])
    }

    pub(crate) fn with(
        endpoint: &str,
        key: &KeyPair,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
    ) -> Self {
        let address = endpoint.strip_prefix("http://").unwrap().to_owned();
        let credentials = Credentials::new(&key.access_key, key.secret.expose(), None, None, "test");
        let identity = credentials.into();
        let mut settings = SigningSettings::default();
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        let params = v4::SigningParams::builder().identity(&identity).region("anywhere-1").name("s3");
        let params = params.time(SystemTime::now()).settings(settings).build().unwrap().into();
        let (plain, query) = path.split_once('?').map_or((path, ""), |(plain, query)| (plain, query));
        let url = format!("{endpoint}{}?{query}", canonical(plain));
        let headers = [("host", address.as_str())].into_iter().chain(more.iter().copied());
        let request = SignableRequest::new(method, &url, headers.clone(), SignableBody::Bytes(b"")).unwrap();
        let (signature, _) = sign(request, &params).unwrap().into_parts();
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n");
        for (name, value) in headers.chain(signature.headers()) {
            text.extend([name, ": ", value, "\r\n"]);
        }
        text.push_str("\r\n");
        Self { address, text }
    }

    /// The same without a signature.
    pub(crate) fn anonymous(endpoint: &str, method: &str, path: &str) -> Self {
        let address = endpoint.strip_prefix("http://").unwrap().to_owned();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n");
        Self { address, text: head + "Connection: close\r\nContent-Length: 0\r\n\r\n" }
    }

    pub(crate) async fn send(&self) -> Answer {
        let mut connection = TcpStream::connect(&self.address).await.unwrap();
        connection.write_all(self.text.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        connection.read_to_end(&mut bytes).await.unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
        Answer { status: status.unwrap_or_else(|| panic!("no answer to {}", self.text)), text }
    }
}

/// As the server sees the path when it checks a signature: however it was sent, in one way of writing.
fn canonical(path: &str) -> String {
    let mut bytes = path.bytes();
    let mut text = String::new();
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'%' => {
                let hex: String = bytes.by_ref().take(2).map(char::from).collect();
                u8::from_str_radix(&hex, 16).unwrap()
            }
            plain => plain,
        };
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(byte.into());
            }
            other => text.extend(["%".to_owned(), format!("{other:02X}")]),
        }
    }
    text
}
