//! What became of a Secret, and how it is now.

use std::sync::Arc;
use std::time::Duration;

use super::have::is_held;
use crate::access::state::{Deed, Landing, Sight};
use crate::access::{AccessState, SecretView};
use crate::{Context, WriteFailure};

/// After so long a request that the API server did not answer has certainly ended there.
const API_SERVER_GIVES_UP: Duration = Duration::from_mins(1);

impl AccessState {
    /// Something was done with a Secret, or was to be.
    pub(in crate::access) fn secret(
        &mut self,
        name: Arc<str>,
        deed: Deed,
        result: Result<Option<SecretView>, WriteFailure>,
        ctx: &Context<'_>,
    ) {
        use WriteFailure::{Conflict, Forbidden, Invalid, NotFound, Other};
        // What is known of the access is older than what is known of the Secret now.
        self.pass.live = false;
        let creates = deed == Deed::Create;
        // Whatever became of a creation that failed, the Secret may be there.
        self.secrets.met |= creates && result.is_err();
        match result {
            Ok(found) => {
                if deed != Deed::Look {
                    self.pace.wrote();
                }
                self.landed(&name, found.as_ref(), creates);
                self.see(Arc::clone(&name), found);
                if matches!(deed, Deed::Create | Deed::Fill) {
                    self.written(name, ctx);
                }
            }
            Err(Conflict) => {
                self.pass.sights.remove(&name);
                self.pace.conflicted(ctx);
            }
            Err(NotFound) if !creates => self.see(name, None),
            Err(failure) => {
                if creates && matches!(failure, Other { .. }) {
                    let several = self.secrets.landing.contains_key(&name);
                    let landing = Landing { until: ctx.now + API_SERVER_GIVES_UP, other: None, several };
                    self.secrets.landing.insert(Arc::clone(&name), landing);
                }
                let verb = if deed == Deed::Look { "read" } else { "written" };
                let why = match &failure {
                    Invalid { message } | Forbidden { message } => Some(message.as_str()),
                    Conflict | NotFound => Some("its namespace is gone"),
                    Other { .. } => None,
                };
                let hint = match (deed, &failure) {
                    (Deed::Fill, Invalid { .. }) => "; if it is immutable, delete it",
                    _ => "",
                };
                let why = why.map(|why| format!("cannot be {verb}: {why}{hint}"));
                self.secret_failed(name, why, Some(&failure), ctx);
            }
        }
    }

    /// A Secret that is there may be what a creation without certain outcome made, which then can't come any more. It is not
    /// if a later creation made it, or if it is another access's or nobody's: the earlier creation may still land when that
    /// Secret is gone again.
    fn landed(&mut self, name: &Arc<str>, found: Option<&SecretView>, created: bool) {
        let (Some(landing), Some(secret)) = (self.secrets.landing.get_mut(name), found) else { return };
        let own = self.backend.owner.as_ref().map(|access| &access.uid);
        let is_own = secret.owner.as_ref().map(|owner| &owner.uid) == own;
        if created {
            landing.other = Some(Arc::clone(&secret.uid));
        } else if is_own && !landing.several && landing.other.as_ref() != Some(&secret.uid) {
            self.secrets.landing.remove(name);
        }
    }

    /// Credentials were written into a Secret. Whoever takes them out again on the way must not make us write for ever.
    fn written(&mut self, name: Arc<str>, ctx: &Context<'_>) {
        let (Some(granted), Some(Sight::Found(secret))) =
            (&mut self.backend.answer, self.pass.sights.get(&name))
        else {
            return;
        };
        let complete = granted.data.get(&name).is_none_or(|data| is_held(secret, data));
        if complete {
            granted.written.insert(name);
        } else {
            let why = "does not keep what is written into it".to_owned();
            self.secret_failed(name, Some(why), None, ctx);
        }
    }

    /// How a Secret is now.
    fn see(&mut self, name: Arc<str>, found: Option<SecretView>) {
        let sight = found.filter(|secret| !secret.is_gone()).map_or(Sight::Missing, Sight::Found);
        self.pass.sights.insert(name, sight);
    }
}
