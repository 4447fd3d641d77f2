//! The names of one kind in a ledger.

use std::marker::PhantomData;
use std::str::FromStr;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::File;
use super::entry::{Entry, Token};
use super::error::LedgerError;
use super::tables::Tables;
use crate::ownership::fingerprint::Fingerprint;

/// The buckets, or the accounts, of a [`NameLedger`](super::NameLedger). Cheap to clone.
///
/// The methods here are single steps, each one change on disk, for a driver that has its own order of them;
/// [`make`](Self::make) and its like put them together. One call at a time for a name is assumed, which the server sees
/// to.
///
/// # At a backend that marks in a second call
/// There the id follows from the name, but a bucket without a mark may be ours, cut off before it was marked, or
/// somebody else's. An entry tells the two apart, if it is written only after the backend said that nothing of that
/// name is there:
///
/// ```
/// # use cosi_driver_sdk::prelude::*;
/// # use cosi_driver_sdk::{Names, Ownership};
/// # struct Found { mark: Option<OwnerMark> }
/// # struct Backend;
/// # impl Backend {
/// #     async fn look(&self, name: &BucketName) -> Result<Option<Found>, DriverError> { Ok(None) }
/// #     async fn make(&self, name: &BucketName) -> Result<(), DriverError> { Ok(()) }
/// #     async fn mark(&self, name: &BucketName, mark: &OwnerMark) -> Result<(), DriverError> { Ok(()) }
/// # }
/// async fn create(
///     backend: &Backend,
///     ledger: &Names<BucketId>,
///     info: &DriverInfo,
///     asked: &CreateBucketRequest,
/// ) -> Result<(), DriverError> {
///     let mine = OwnerMark::new(info, &asked.name, asked);
///     match backend.look(&asked.name).await? {
///         None => {
///             ledger.announce(&asked.name, asked).await?;
///             backend.make(&asked.name).await?;
///         }
///         // Without a mark it is ours only if we were about to make it.
///         Some(Found { mark: None }) => match ledger.find(&asked.name).await? {
///             Some(_) => drop(ledger.announce(&asked.name, asked).await?),
///             None => Ownership::Foreign.or_already_exists(&asked.name)?,
///         },
///         Some(Found { mark }) => return mine.compare(mark.as_ref()).or_already_exists(&asked.name),
///     }
///     backend.mark(&asked.name, &mine).await
/// }
/// # let _ = create;
/// ```
///
/// The undo asks in the same order: the mark first; without one, the entry. It deletes what is there, and forgets the
/// entry last. If the backend refused for certain to make anything, say because it can't hold the name, the entry is
/// forgotten, too.
#[derive(Debug, Clone)]
pub struct Names<I> {
    file: Arc<File>,
    tables: Tables,
    kind: PhantomData<fn() -> I>,
}

impl<I: AsRef<str> + FromStr + Send + 'static> Names<I> {
    pub(super) fn new(file: Arc<File>, tables: Tables) -> Self {
        Self { file, tables, kind: PhantomData }
    }

    /// Writes down that something is about to be made for this name, before the backend is asked for it. If there is an
    /// entry for the same request, that one is given, and nothing is written.
    ///
    /// # Errors
    /// [`LedgerError::OtherRequest`], if the name was announced for a request with other fields; else if the file fails.
    pub async fn announce(
        &self,
        name: impl AsRef<str>,
        request: impl Into<Fingerprint>,
    ) -> Result<Entry<I>, LedgerError> {
        let (name, request) = (name.as_ref().to_owned(), request.into());
        let entry = match self.find(&name).await? {
            Some(entry) => entry,
            None => self.insert(name.clone(), request.clone()).await?,
        };
        if entry.request.matches(&request) { Ok(entry) } else { Err(LedgerError::OtherRequest { name }) }
    }

    /// What is known of a name.
    ///
    /// # Errors
    /// If the file fails: never taken for "nothing" (COSI-GEN-7).
    pub async fn find(&self, name: impl AsRef<str>) -> Result<Option<Entry<I>>, LedgerError> {
        let name = name.as_ref().to_owned();
        self.on_disk(move |file, tables| tables.find(&file.read()?, &name)).await
    }

    /// The name under which an id was recorded.
    ///
    /// # Errors
    /// If the file fails.
    pub async fn name_of(&self, id: &I) -> Result<Option<String>, LedgerError> {
        let id = id.as_ref().to_owned();
        self.on_disk(move |file, tables| tables.name_of(&file.read()?, &id)).await
    }

    /// Writes down the id that the backend chose, before it is answered.
    ///
    /// # Errors
    /// If the name was not announced, the id is another name's, or the file fails.
    pub async fn record(&self, name: impl AsRef<str>, id: &I) -> Result<(), LedgerError> {
        let (name, id) = (name.as_ref().to_owned(), id.as_ref().to_owned());
        self.on_disk(move |file, tables| file.write(|write| tables.record::<I>(write, name, &id))).await
    }

    /// Strikes a name out, with its id: nothing of it is at the backend any more, and nothing will be.
    ///
    /// # Errors
    /// If the file fails.
    pub async fn forget(&self, name: impl AsRef<str>) -> Result<(), LedgerError> {
        let name = name.as_ref().to_owned();
        self.on_disk(move |file, tables| file.write(|write| tables.forget(write, &name))).await
    }

    async fn insert(&self, name: String, request: Fingerprint) -> Result<Entry<I>, LedgerError> {
        let (token, written) = (Token::fresh(), request.clone());
        let entry = Entry { request, token: token.clone(), id: None };
        self.on_disk(move |file, tables| file.write(|write| tables.insert(write, &name, &written, &token)))
            .await?;
        Ok(entry)
    }

    /// A disk may take its time; other calls go on meanwhile.
    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&File, Tables) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let (file, tables) = (Arc::clone(&self.file), self.tables);
        let done = spawn_blocking(move || work(&file, tables).inspect_err(|error| file.notice(error)));
        done.await.map_err(LedgerError::CutOff)?
    }
}
