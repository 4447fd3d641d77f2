//! Making once, and unmaking, at a backend that chooses the ids.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;

use super::entry::{Entry, Token};
use super::names::Names;
use crate::error::DriverError;
use crate::ownership::fingerprint::Fingerprint;

/// What the backend can do for one bucket, or one account, whose id it chooses. Made anew for each call, so that it can
/// hold the request.
///
/// # Assumptions
/// - **A failure is an error.** A search that fails must not find "nothing" (C38, COSI-GEN-7).
/// - **The token goes along with the making**, into a name, a tag, a description or an idempotency key. A backend that
///   takes nothing of the kind can't be used without leaving orphans.
/// - **What was made is found at once**, or a second making with the same token makes no second thing. A search that lags behind
///   finds nothing after a crash, and one more would be made.
/// - Each method may be called again after it failed, whether or not it had taken effect.
#[async_trait]
pub trait Chosen<I>: Send + Sync {
    /// Everything that bears the token; all pages, also what is only half-done.
    async fn find(&self, token: &Token) -> Result<Vec<I>, DriverError>;

    /// Whether a thing that [`find`](Self::find) did not show, and whose id is known, is there all the same. The default, no, is
    /// right for a search that is never behind.
    async fn exists(&self, id: &I) -> Result<bool, DriverError> {
        let _ = id;
        Ok(false)
    }

    /// Makes one, and has it bear the token.
    async fn make(&self, token: &Token) -> Result<I, DriverError>;

    /// Deletes one; gone already is `Ok`.
    async fn delete(&self, id: &I) -> Result<(), DriverError>;
}

impl<I> Names<I>
where
    I: AsRef<str> + FromStr + fmt::Display + Clone + Ord + Send + Sync + 'static,
{
    /// The one thing of this name, made if it is not there: for a create or a grant.
    ///
    /// # Guarantees
    /// - The same request gets the same id for as long as the thing is there, whatever was lost or cut off before
    ///   (COSI-CREATE-1, COSI-CREATE-2).
    /// - The id is on disk before it is answered.
    /// - What an earlier call seemed to fail to make, and what appeared later all the same, is deleted by the next call
    ///   or by the undo.
    ///
    /// # Errors
    /// ALREADY_EXISTS, if the name was asked for before with other fields; else the first error of backend or file, and
    /// nothing is cleaned up after it (R8).
    pub async fn make(
        &self,
        name: impl AsRef<str> + Send,
        request: impl Into<Fingerprint> + Send,
        backend: &impl Chosen<I>,
    ) -> Result<I, DriverError> {
        let name = name.as_ref();
        let entry = self.announce(name, request).await?;
        let found: BTreeSet<I> = backend.find(&entry.token).await?.into_iter().collect();
        let known = match entry.id {
            Some(id) if found.contains(&id) || backend.exists(&id).await? => Some(id),
            _ => None,
        };
        let id = match known.clone().or_else(|| found.first().cloned()) {
            Some(id) => id,
            None => backend.make(&entry.token).await?,
        };
        if known.is_none() {
            self.record(name, &id).await?;
        }
        // Nobody was told of the others: they come from calls that seemed to fail.
        for other in found.iter().filter(|other| **other != id) {
            backend.delete(other).await?;
        }
        Ok(id)
    }

    /// Deletes what [`make`](Self::make) made for the same request, finished or not: for a delete or a revoke by name.
    /// What another request made stays (COSI-DELNAME-3).
    ///
    /// # Errors
    /// The first of backend or file; the next call goes on from there (COSI-DELNAME-5).
    pub async fn unmake(
        &self,
        name: impl AsRef<str> + Send,
        request: impl Into<Fingerprint> + Send,
        backend: &impl Chosen<I>,
    ) -> Result<(), DriverError> {
        let (name, request) = (name.as_ref(), request.into());
        match self.find(name).await? {
            Some(entry) if entry.request.matches(&request) => self.clear(name, &entry, backend).await,
            _ => Ok(()),
        }
    }

    /// Deletes by id, for a delete or a revoke: also what this ledger doesn't know.
    ///
    /// # Errors
    /// The first of backend or file; the next call goes on from there.
    pub async fn delete(&self, id: &I, backend: &impl Chosen<I>) -> Result<(), DriverError> {
        let Some(name) = self.name_of(id).await? else { return backend.delete(id).await };
        match self.find(&name).await? {
            Some(entry) => self.clear(&name, &entry, backend).await,
            None => backend.delete(id).await,
        }
    }

    /// The entry goes last: as long as it is there, the next call finds everything again.
    async fn clear(&self, name: &str, entry: &Entry<I>, backend: &impl Chosen<I>) -> Result<(), DriverError> {
        let mut all: BTreeSet<I> = backend.find(&entry.token).await?.into_iter().collect();
        all.extend(entry.id.clone());
        for id in &all {
            backend.delete(id).await?;
        }
        Ok(self.forget(name).await?)
    }
}
