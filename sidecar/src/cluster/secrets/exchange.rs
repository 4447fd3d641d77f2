//! Requests about Secrets, past the client library's own reading of answers: it logs what it cannot read, and copies what the
//! API server says into its errors. An API server's text can repeat what was sent (I7).

use cosi_lifecycle::WriteFailure;
use http::{Method, Request};
use kube::Client;
use kube::client::Body;
use kube::core::Status;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::super::failure::{ANSWER_WITHIN, classify, of_status, says_gone, too_late};
use super::super::objects::no_news;

/// What is to become of the text of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// No secret can be in it.
    Whole,
    /// It is left out; reason and fields must do.
    Withheld,
}

/// Sends a request about the Secret of that name and reads the answer.
pub(super) async fn exchange<T: DeserializeOwned>(
    client: &Client,
    name: &str,
    request: Request<Vec<u8>>,
    text: Text,
) -> Result<T, WriteFailure> {
    // Whether a write met nothing is looked into before anything is believed; a read or a delete is the last look.
    let is_last_look = matches!(*request.method(), Method::GET | Method::DELETE);
    let answer = async {
        let response = client.send(request.map(Body::from)).await?;
        let code = response.status();
        Ok((code, response.into_body().collect_bytes().await?))
    };
    let (code, body) =
        timeout(ANSWER_WITHIN, answer).await.map_err(too_late)?.map_err(|error| classify(&error))?;
    if !code.is_success() {
        let (status, failure) = refusal(code.as_u16(), &body, text);
        let believed = !is_last_look || says_gone(&status, name);
        return Err(if believed { failure } else { no_news(failure) });
    }
    // The parser's own words can hold what it stumbled over.
    serde_json::from_slice(&body)
        .map_err(|_| other("the API server's answer about a Secret cannot be decoded"))
}

/// What a status other than 2xx means. Something between here and the API server may have answered in its own way.
fn refusal(code: u16, body: &[u8], text: Text) -> (Status, WriteFailure) {
    let status = serde_json::from_slice::<Status>(body).unwrap_or_default();
    let status = status.with_code(code);
    let message = match text {
        Text::Whole if !status.message.is_empty() => status.message.clone(),
        _ => without_text(&status),
    };
    let failure = of_status(&status, message);
    (status, failure)
}

fn without_text(status: &Status) -> String {
    let reason = match status.reason.as_str() {
        "" => format!("HTTP status {}", status.code),
        reason => reason.to_owned(),
    };
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let fields: Vec<_> = causes.map(|cause| cause.field.as_str()).filter(|field| !field.is_empty()).collect();
    let about = if fields.is_empty() { String::new() } else { format!(" about {}", fields.join(", ")) };
    format!("{reason}{about} (the API server's text is left out, it can repeat values)")
}

/// The request cannot be made: a name that is none, which the API server would have refused before.
#[allow(clippy::needless_pass_by_value, reason = "it is used with map_err")]
pub(super) fn unsendable(error: kube::core::request::Error) -> WriteFailure {
    other(&error.to_string())
}

fn other(message: &str) -> WriteFailure {
    WriteFailure::Other { message: message.to_owned(), retry_after: None }
}
