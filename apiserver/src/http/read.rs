//! GET of one object.

use std::sync::Arc;

use serde_json::{Value, json};

use super::path::Target;
use super::{Answer, Answered, Form, Request};
use crate::registry::{Strategy, key, meta, names_one, resource, view};
use crate::schema::Kind;
use crate::service::Shared;
use crate::status::Refusal;
use crate::table;

/// The object as it is now.
pub(super) fn one(
    shared: &Arc<Shared>,
    request: &Request,
    target: &Target,
    form: Answered,
) -> Result<Answer, Refusal> {
    let kind = &target.kind;
    names_one(&target.name)?;
    let asked = request.query.revision().map_err(|why| match Strategy::of(kind) {
        // Events come from another place than the rest, which is not cached and words it otherwise.
        Strategy::Event => Refusal::bad_revision(&why),
        _ => Refusal::other(500, &why),
    })?;
    let asked = asked.unwrap_or_default();
    let state = shared.lock();
    if asked > state.store.revision() {
        return Err(Refusal::too_new(asked, state.store.revision()));
    }
    let found = state.store.get(&resource(kind), &key(&target.namespace, &target.name));
    let object = found.cloned().ok_or_else(|| Refusal::not_found(kind, &target.name))?;
    drop(state);
    Ok(Answer::value(200, &shown(shared, kind, &object, form), form.yaml))
}

/// One object in the form that is wanted.
pub(super) fn shown(shared: &Shared, kind: &Kind, object: &Value, form: Answered) -> Value {
    let object = view::shown(kind, object).into_owned();
    match form.form {
        Form::Table(include) => {
            let metadata = json!({ "resourceVersion": meta::text(&object, "resourceVersion") });
            table::table(kind, &[object], &metadata, include, true, shared.clock().now())
        }
        Form::Metadata => table::partial(&object),
        _ => object,
    }
}
