//! What the API server knows about what happened.

use anyhow::{Context, Result};
use kube::Client;

/// Writes to what a sidecar writes that the API server has got, refused ones and status writes included.
pub(super) async fn writes(client: &Client) -> Result<f64> {
    let resources = ["buckets", "bucketaccesses", "secrets", "events"];
    Ok(count(&metrics(client).await?, &resources, &["POST", "PUT", "PATCH", "APPLY", "DELETE"]))
}

/// Reads of single Secrets that the API server has got.
pub(super) async fn secret_reads(client: &Client) -> Result<f64> {
    Ok(count(&metrics(client).await?, &["secrets"], &["GET"]))
}

async fn metrics(client: &Client) -> Result<String> {
    let request = http::Request::get("/metrics").body(Vec::new()).context("ask for metrics")?;
    client.request_text(request).await.context("read the API server's metrics")
}

fn count(metrics: &str, resources: &[&str], verbs: &[&str]) -> f64 {
    let of_interest = |line: &&str| {
        let has = |label: &str, values: &[&str]| {
            values.iter().any(|value| line.contains(&format!("{label}=\"{value}\"")))
        };
        line.starts_with("apiserver_request_total{") && has("resource", resources) && has("verb", verbs)
    };
    let numbers = metrics.lines().filter(of_interest).filter_map(|line| line.rsplit(' ').next());
    numbers.filter_map(|number| number.parse::<f64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_requests_that_are_meant_are_counted() {
        let line = |verb: &str, resource: &str, n: u32| {
            format!("apiserver_request_total{{code=\"200\",resource=\"{resource}\",verb=\"{verb}\"}} {n}\n")
        };
        let text = [
            "# HELP apiserver_request_total x\n".to_owned(),
            line("PATCH", "buckets", 3),
            line("POST", "events", 4),
            line("LIST", "buckets", 50),
            line("PATCH", "leases", 60),
        ];
        let found = count(&text.concat(), &["buckets", "events"], &["POST", "PATCH"]);
        assert!((found - 7.0).abs() < f64::EPSILON);
    }
}
