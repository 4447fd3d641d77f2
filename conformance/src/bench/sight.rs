//! How it can be seen, with nothing but the protocol, whether something is there.
//!
//! A bucket: DriverGetExistingBucket finds it by its id; or a DriverCreateBucket for the same name with other parameters is
//! refused with ALREADY_EXISTS. An account: a grant for the same name with another access mode is refused. Both are
//! tried once on a bucket that is certainly there, and certainly not, before they are believed.

use tonic::Code;

use super::{Bench, Bucket, Mode, Stop, Tried};
use crate::driver::rpc::{Create, Grant};

/// What can be seen of buckets.
pub(crate) struct Sight {
    /// DriverGetExistingBucket tells the truth.
    existing: bool,
    /// A Create with other parameters does.
    other: bool,
    /// One of them still found the bucket after it was deleted.
    stays: bool,
    /// What stands before and after the name in ids, if they are made of it.
    shape: Option<(String, String)>,
}

impl Sight {
    pub(crate) fn ids_are_made_of_names(&self) -> bool {
        self.shape.is_some()
    }

    /// A bucket is still there after its deletion was OK.
    pub(crate) fn deleted_buckets_stay(&self) -> bool {
        self.stays
    }

    fn id_of(&self, name: &str) -> Option<String> {
        self.shape.as_ref().map(|(before, after)| format!("{before}{name}{after}"))
    }
}

impl Bench {
    pub(crate) async fn sight(&self) -> Tried<&Sight> {
        self.shared.sight.get_or_try_init(|| self.look()).await
    }

    async fn look(&self) -> Tried<Sight> {
        let bucket = self.bucket().await?;
        let name = &bucket.request.name;
        let split = bucket.id.split_once(name.as_str());
        let shape = split.map(|(before, after)| (before.to_owned(), after.to_owned()));
        let (found, taken) = (self.existing(&bucket.id).await, self.taken(&bucket.request).await);
        self.away(&bucket).await?;
        let (free, lost) = (self.taken(&bucket.request).await, self.existing(&bucket.id).await);
        Ok(Sight {
            existing: found == Some(true) && lost == Some(false),
            other: taken == Some(true) && free == Some(false),
            stays: lost == Some(true) && found == lost || free == Some(true) && taken == free,
            shape,
        })
    }

    /// Whether a bucket of that request is there, and notes that for cleaning up; `id` is the one that a Create answered, if one did.
    pub(crate) async fn bucket_is_there(&self, request: &Create, id: Option<&str>) -> Tried<bool> {
        let sight = self.sight().await?;
        let id = id.map(str::to_owned).or_else(|| sight.id_of(&request.name));
        let seen = match &id {
            Some(id) if sight.existing => self.existing(id).await,
            _ if sight.other => self.taken(request).await,
            _ => None,
        };
        match seen {
            Some(true) => self.made.bucket_found(request, id.as_deref()),
            Some(false) => self.made.bucket_forgotten(request),
            None => {}
        }
        seen.ok_or_else(|| {
            Stop::Skip(
                "it can't be seen whether a bucket is there: that takes a working DriverGetExistingBucket, or \
                 --other-parameter with parameters that the driver knows and tells apart"
                    .to_owned(),
            )
        })
    }

    async fn existing(&self, id: &str) -> Option<bool> {
        match self.ask(self.existing_request(id)).await {
            Ok(_) => Some(true),
            Err(failure) if failure.is(Code::NotFound) => Some(false),
            Err(_) => None,
        }
    }

    async fn taken(&self, request: &Create) -> Option<bool> {
        let other = self.other_request(request);
        match self.patiently(|| self.create(&other)).await {
            Ok(made) => {
                let bucket = Bucket { id: made.bucket_id, request: other };
                self.away(&bucket).await.ok().map(|()| false)
            }
            Err(failure) if failure.is(Code::AlreadyExists) => Some(true),
            Err(_) => None,
        }
    }

    /// Whether an account of that request is there, and notes that for cleaning up. The driver must be one that refuses a grant with another mode.
    pub(crate) async fn account_is_there(&self, request: &Grant) -> Tried<bool> {
        let other = with_other_mode(request);
        match self.patiently(|| self.grant(&other)).await {
            Ok(granted) => {
                let account = super::Account { granted, request: other };
                self.patiently(|| self.revoke(&account)).await.map_err(super::buckets::unprepared)?;
                self.made.account_forgotten(request);
                Ok(false)
            }
            Err(failure) if failure.is(Code::AlreadyExists) => {
                self.made.account_found(request, None);
                Ok(true)
            }
            Err(failure) => {
                Err(Stop::Skip(format!("it can't be seen whether an account is there: {failure}")))
            }
        }
    }
}

/// The same grant with another access mode for each bucket.
pub(crate) fn with_other_mode(request: &Grant) -> Grant {
    let mut other = request.clone();
    for mode in other.buckets.iter_mut().filter_map(|bucket| bucket.access_mode.as_mut()) {
        mode.mode = if mode.mode() == Mode::ReadOnly { Mode::ReadWrite } else { Mode::ReadOnly }.into();
    }
    other
}
