//! An object on the server, and rows of changes to it with the verdict to expect.

use cosi_tests::devcluster;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, PostParams};
use kube::{Client, Resource};
use serde_json::{Value, json};

/// One change to the base object, and what the server must say about it.
#[derive(Clone)]
pub(crate) struct Row {
    what: &'static str,
    /// A JSON merge patch on the base: null takes a field away.
    change: Value,
    verdict: Verdict,
}

#[derive(Clone)]
enum Verdict {
    Accepted,
    /// Refused because of this field, with this in the message.
    Refused(&'static str, &'static str),
}

pub(crate) fn accepted(what: &'static str, change: Value) -> Row {
    Row { what, change, verdict: Verdict::Accepted }
}

pub(crate) fn refused(what: &'static str, change: Value, field: &'static str, why: &'static str) -> Row {
    Row { what, change, verdict: Verdict::Refused(field, why) }
}

/// How a row reaches the server.
#[derive(Clone, Copy)]
enum Request {
    Create,
    Replace,
    ReplaceStatus,
}

/// A base object of one kind.
pub(crate) struct Subject {
    api: Api<DynamicObject>,
    base: Value,
}

impl Subject {
    /// Gets ready to send objects like `base`, which has no name yet; nothing is sent. `None`: no cluster, skip.
    pub(crate) fn prepare<K>(test: &str, namespaced: bool, mut base: Value) -> Option<Self>
    where
        K: Resource<DynamicType = ()>,
    {
        let cluster = devcluster::or_skip(test)?;
        let kind = ApiResource::erase::<K>(&());
        merge(
            &mut base,
            &json!({ "apiVersion": kind.api_version, "kind": kind.kind, "metadata": { "name": fresh_name() } }),
        );
        let client: Client = cluster.client().unwrap();
        let api = if namespaced {
            Api::default_namespaced_with(client, &kind)
        } else {
            Api::all_with(client, &kind)
        };
        Some(Self { api, base })
    }

    /// Sends each row as a new object.
    pub(crate) async fn creations(&self, rows: &[Row]) {
        verdict(&self.run(rows, &self.base, Request::Create).await);
    }

    /// Makes the base object, status included, then sends each row as a change to it: `spec` to the object
    /// itself, `status` to its status.
    pub(crate) async fn changes(&self, spec: &[Row], status: &[Row]) {
        let stored = self.make().await;
        let mut failures = self.run(spec, &stored, Request::Replace).await;
        failures.extend(self.run(status, &stored, Request::ReplaceStatus).await);
        self.remove().await;
        verdict(&failures);
    }

    /// Makes the base object with its status. The caller removes it.
    pub(crate) async fn make(&self) -> Value {
        let created = self.api.create(&PostParams::default(), &object(&self.base)).await.unwrap();
        let Some(status) = self.base.get("status") else {
            return serde_json::to_value(created).unwrap();
        };
        self.put_status(&serde_json::to_value(created).unwrap(), status).await.unwrap()
    }

    /// Stores `status` (null: none) in place of that of `current`.
    pub(crate) async fn put_status(&self, current: &Value, status: &Value) -> Result<Value, kube::Error> {
        let mut wanted = current.clone();
        let fields = wanted.as_object_mut().unwrap();
        match status {
            Value::Null => fields.remove("status"),
            status => fields.insert("status".to_owned(), status.clone()),
        };
        let answer = self.api.replace_status(self.name(), &PostParams::default(), &object(&wanted)).await?;
        Ok(serde_json::to_value(answer).unwrap())
    }

    pub(crate) async fn remove(&self) {
        self.api.delete(self.name(), &DeleteParams::default()).await.unwrap();
    }

    fn name(&self) -> &str {
        self.base["metadata"]["name"].as_str().unwrap()
    }

    async fn run(&self, rows: &[Row], base: &Value, request: Request) -> Vec<String> {
        let mut failures = Vec::new();
        for row in rows {
            let mut wanted = base.clone();
            merge(&mut wanted, &row.change);
            let answer = self.dry_run(&wanted, request).await;
            if let Some(failure) = judge(row, answer) {
                failures.push(format!("{}: {failure}", row.what));
            }
        }
        failures
    }

    async fn dry_run(&self, wanted: &Value, request: Request) -> Result<DynamicObject, kube::Error> {
        let params = PostParams { dry_run: true, ..PostParams::default() };
        let object = object(wanted);
        match request {
            Request::Create => self.api.create(&params, &object).await,
            Request::Replace => self.api.replace(self.name(), &params, &object).await,
            Request::ReplaceStatus => self.api.replace_status(self.name(), &params, &object).await,
        }
    }
}

/// What is wrong with the answer, if anything. An accepted change must also be in the answer: a field that the
/// server drops silently is one that the definition doesn't have.
fn judge(row: &Row, answer: Result<DynamicObject, kube::Error>) -> Option<String> {
    match (&row.verdict, answer) {
        (Verdict::Accepted, Ok(answer)) => {
            let answer = serde_json::to_value(answer).unwrap();
            let mut again = answer.clone();
            merge(&mut again, &row.change);
            (again != answer).then(|| format!("accepted, but stored as {answer}"))
        }
        (Verdict::Accepted, Err(error)) => Some(format!("refused: {error}")),
        (Verdict::Refused(..), Ok(_)) => Some("accepted".to_owned()),
        (Verdict::Refused(field, why), Err(error)) => {
            let causes = causes(&error);
            let named = causes.iter().any(|(at, message)| at == field && message.contains(why));
            (!named).then(|| format!("refused otherwise: {error} {causes:?}"))
        }
    }
}

/// Fields and messages of a 422.
fn causes(error: &kube::Error) -> Vec<(String, String)> {
    let kube::Error::Api(status) = error else {
        return Vec::new();
    };
    if status.code != 422 {
        return Vec::new();
    }
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes.map(|cause| (cause.field.clone(), cause.message.clone())).collect()
}

fn verdict(failures: &[String]) {
    assert!(failures.is_empty(), "{} rows failed:\n{}", failures.len(), failures.join("\n"));
}

fn object(value: &Value) -> DynamicObject {
    serde_json::from_value(value.clone()).unwrap()
}

/// A name that nothing else on a shared cluster has.
fn fresh_name() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = jiff::Timestamp::now().as_nanosecond();
    format!("crds-{now}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// JSON merge patch, RFC 7396.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let target = target.as_object_mut().unwrap();
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            merge(target.entry(key).or_insert(Value::Null), value);
        }
    }
}
