//! Asks a driver by server reflection which services it has.

use std::time::Duration;

use tokio::time::timeout;
use tonic::transport::Channel;

/// The same question in both versions of reflection, whose messages are alike.
macro_rules! list {
    ($name:ident, $version:ident) => {
        /// The services that are listed; none if reflection of this version is not served.
        pub(crate) async fn $name(channel: Channel, limit: Duration) -> Option<Vec<String>> {
            use tonic_reflection::pb::$version::ServerReflectionRequest;
            use tonic_reflection::pb::$version::server_reflection_client::ServerReflectionClient;
            use tonic_reflection::pb::$version::server_reflection_request::MessageRequest;
            use tonic_reflection::pb::$version::server_reflection_response::MessageResponse;

            let message_request = Some(MessageRequest::ListServices(String::new()));
            let question = ServerReflectionRequest { host: String::new(), message_request };
            let asked = async {
                let mut client = ServerReflectionClient::new(channel);
                let answers = client.server_reflection_info(tokio_stream::once(question)).await.ok()?;
                answers.into_inner().message().await.ok()?
            };
            match timeout(limit, asked).await.ok()??.message_response? {
                MessageResponse::ListServicesResponse(list) => {
                    Some(list.service.into_iter().map(|service| service.name).collect())
                }
                _ => None,
            }
        }
    };
}

list!(v1, v1);
list!(v1alpha, v1alpha);
