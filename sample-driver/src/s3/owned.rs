//! Whose a bucket or user at the service is.

use std::str::FromStr;

use cosi_driver_sdk::{DriverError, DriverInfo, ErrorKind, Fingerprint, Names, OwnerMark, Ownership};

use super::seam::{Made, Tagged, Tags};

/// What a request asks for at the service under its name: made by this very request, not there, or somebody else's.
///
/// # Guarantees
/// - What bears the mark of this request is its own, and what bears another mark is not.
/// - What bears no mark is its own only if the ledger has an entry for the name: making and marking are two calls, and the
///   entry is written before the first, after the service said that nothing of that name is there. Nothing is guessed.
/// - The undo deletes exactly what a repeated create would go on with (I4).
///
/// # Assumptions
/// One process at a time works on a name: the server sees to that within a process, the ledger's lock between processes.
/// If somebody else makes something of the same name between look-up and making, and the service says "made" all the same
/// (S3 in us-east-1 does, to the owner of the bucket), it is taken for ours.
pub(super) struct Owned<'a, T, I> {
    things: &'a T,
    names: Names<I>,
    name: &'a str,
    request: Fingerprint,
    mark: OwnerMark,
}

impl<'a, T: Tagged, I: AsRef<str> + FromStr + Send + 'static> Owned<'a, T, I> {
    pub(super) fn new(
        things: &'a T,
        names: Names<I>,
        driver: &DriverInfo,
        name: &'a str,
        request: impl Into<Fingerprint>,
    ) -> Self {
        let request = request.into();
        let mark = OwnerMark::new(driver, name, request.clone());
        Self { things, names, name, request, mark }
    }

    /// Whether it is there. What an earlier call made and did not get to mark is marked.
    ///
    /// # Errors
    /// `ALREADY_EXISTS`, if something of that name is there that this request did not make.
    pub(super) async fn find(&self) -> Result<bool, DriverError> {
        let Some(tags) = self.things.tags(self.name).await? else { return Ok(false) };
        match mark_of(&tags) {
            Some(found) => self.mark.compare(Some(&found)).or_already_exists(self.name)?,
            None => self.adopt(tags).await?,
        }
        Ok(true)
    }

    /// Makes what [`find`](Self::find) did not find.
    pub(super) async fn make(&self) -> Result<(), DriverError> {
        let fresh = self.names.find(self.name).await?.is_none();
        self.names.announce(self.name, self.request.clone()).await?;
        match self.things.make(self.name, &self.tags(Tags::new())).await {
            Ok(Made::New) => self.mark(Tags::new()).await,
            // Nobody had announced it before, so no earlier call can have made it.
            Ok(Made::Taken) if fresh => {
                self.names.forget(self.name).await?;
                Ownership::Foreign.or_already_exists(self.name)
            }
            Ok(Made::Taken) => Err(DriverError::aborted(format!(
                "{} appeared at the service while it was being made; try again",
                self.name
            ))),
            Err(error) if fresh && did_nothing(error.kind()) => {
                self.names.forget(self.name).await?;
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Deletes what this request made, finished or not, and leaves anything else alone. The entry goes last: as long as it is
    /// there, the next call finds everything again.
    pub(super) async fn undo(&self) -> Result<(), DriverError> {
        let entry = self.names.find(self.name).await?;
        let announced = entry.is_some_and(|entry| entry.request.matches(&self.request));
        let tags = self.things.tags(self.name).await?;
        let ours = match tags.as_ref().map(mark_of) {
            Some(Some(found)) => self.mark.compare(Some(&found)).is_same(),
            Some(None) | None => announced,
        };
        if !ours {
            return Ok(());
        }
        // Even if it was not seen: what an entry tells of may be there already, and a service may not show it yet, as IAM does.
        self.things.delete(self.name).await?;
        Ok(self.names.forget(self.name).await?)
    }

    async fn adopt(&self, tags: Tags) -> Result<(), DriverError> {
        if self.names.find(self.name).await?.is_none() {
            Ownership::Foreign.or_already_exists(self.name)?;
        }
        self.names.announce(self.name, self.request.clone()).await?;
        self.mark(tags).await
    }

    async fn mark(&self, others: Tags) -> Result<(), DriverError> {
        self.things.tag(self.name, &self.tags(others)).await
    }

    /// The mark beside what others have put there. Those of the service itself can't be set.
    fn tags(&self, others: Tags) -> Tags {
        let others = others.into_iter().filter(|(key, _)| !key.starts_with("aws:"));
        others.chain(self.mark.to_tags().map(|(key, value)| (key.to_owned(), value))).collect()
    }
}

fn mark_of(tags: &Tags) -> Option<OwnerMark> {
    OwnerMark::from_tags(tags.iter().map(|(key, value)| (key.as_str(), value.as_str())))
}

/// Whether the mark there is this driver's, for whatever request; `None` if there is no mark.
pub(super) fn is_marked_by(tags: &Tags, driver: &DriverInfo, name: &str) -> Option<bool> {
    mark_of(tags).map(|mark| {
        let [(_, by), (_, of), _] = mark.to_tags();
        by == driver.name() && of == name
    })
}

/// Whether an error says that the service did nothing, and will do nothing later (R3).
fn did_nothing(kind: ErrorKind) -> bool {
    use ErrorKind::{
        AlreadyExists, FailedPrecondition, InvalidArgument, NotFound, OutOfRange, PermissionDenied,
        Unauthenticated, Unimplemented,
    };
    matches!(
        kind,
        AlreadyExists
            | FailedPrecondition
            | InvalidArgument
            | NotFound
            | OutOfRange
            | PermissionDenied
            | Unauthenticated
            | Unimplemented
    )
}
