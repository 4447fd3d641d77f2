//! The decisions of create and delete: from what was seen to the steps that follow. No I/O.

use super::{
    error::{CreateError, DeleteError},
    id::BucketId,
    ledger::{Marker, Request},
};

/// One step on disk. Each is atomic or safe to repeat, so a crash between any two is repaired by repeating the call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Write down durably for whom the bucket is about to be made. Accounts that could use an earlier one of this id can't any
    /// more.
    Mark(Marker),
    /// Make the bucket, in one step, empty.
    Make(BucketId),
    /// Take the bucket with everything in it out of sight, in one step.
    TakeAway(BucketId),
    /// Remove what was taken away.
    Purge(BucketId),
    /// Forget for whom it was made, if that is known, and what accounts could do with it.
    Forget(BucketId, Option<Marker>),
}

/// What is there for one bucket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Seen {
    /// The marker of the name (create, delete by name) or of the id (delete).
    pub(crate) marker: Option<Marker>,
    /// The id belongs to the marker of another name (two prefixes can lead there).
    pub(crate) id_taken: bool,
    /// The bucket itself, if it is there.
    pub(crate) bucket: Option<Filling>,
}

/// What a bucket holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Filling {
    Nothing,
    Objects,
    Uploads,
}

/// What a delete does with a bucket that isn't empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    /// Refuse to delete.
    Keep,
    /// Delete the contents, too; uploads that are running are cut off.
    Discard,
}

/// Steps that lead to the bucket for `request`, or why there can't be one.
pub(crate) fn create(seen: &Seen, request: &Request, id: &BucketId) -> Result<Vec<Step>, CreateError> {
    match &seen.marker {
        Some(marker) if !marker.answers(request) => Err(CreateError::OtherRequest(id.clone())),
        Some(_) if seen.bucket.is_some() => Ok(vec![]),
        Some(marker) => Ok(vec![Step::Mark(marker.clone()), Step::Make(id.clone())]),
        None if seen.bucket.is_some() || seen.id_taken => Err(CreateError::Foreign(id.clone())),
        None => Ok(vec![Step::Mark(Marker::new(request.clone(), id.clone())), Step::Make(id.clone())]),
    }
}

/// Steps after which the bucket and its marker are gone, or why it has to stay.
pub(crate) fn delete(seen: &Seen, id: &BucketId, contents: Contents) -> Result<Vec<Step>, DeleteError> {
    if contents == Contents::Keep {
        match seen.bucket {
            Some(Filling::Objects) => return Err(DeleteError::HasObjects(id.clone())),
            Some(Filling::Uploads) => return Err(DeleteError::HasUploads(id.clone())),
            Some(Filling::Nothing) | None => {}
        }
    }
    let mut steps = Vec::new();
    if seen.bucket.is_some() {
        steps.push(Step::TakeAway(id.clone()));
    }
    // Also without a bucket: an earlier delete may have come no further than taking it away.
    steps.push(Step::Purge(id.clone()));
    steps.push(Step::Forget(id.clone(), seen.marker.clone()));
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(name: &str) -> Request {
        Request { name: name.into(), protocols: [].into(), parameters: [].into() }
    }

    fn id() -> BucketId {
        "bc-1".parse().unwrap()
    }

    fn marker() -> Marker {
        Marker::new(request("bc-1"), id())
    }

    const NOTHING: Seen = Seen { marker: None, id_taken: false, bucket: None };

    #[test]
    fn a_create_marks_before_it_makes() {
        let steps = create(&NOTHING, &request("bc-1"), &id()).unwrap();
        assert_eq!(steps, [Step::Mark(marker()), Step::Make(id())]);
    }

    /// The bucket may be gone in the middle of a delete: rights on it must not be there when it comes again.
    #[test]
    fn a_create_that_finds_only_its_marker_writes_it_again_before_it_makes() {
        let seen = Seen { marker: Some(marker()), ..NOTHING };
        let steps = create(&seen, &request("bc-1"), &id()).unwrap();
        assert_eq!(steps, [Step::Mark(marker()), Step::Make(id())]);
    }

    /// The other name's create may have got no further than its marker.
    #[test]
    fn an_id_that_another_name_has_is_refused_even_before_its_bucket_is_there() {
        let seen = Seen { id_taken: true, ..NOTHING };
        assert!(matches!(create(&seen, &request("bc-1"), &id()), Err(CreateError::Foreign(_))));
    }

    #[test]
    fn a_delete_takes_the_bucket_away_before_it_forgets_whose_it_was() {
        let seen = Seen { marker: Some(marker()), id_taken: false, bucket: Some(Filling::Nothing) };
        let steps = delete(&seen, &id(), Contents::Keep).unwrap();
        assert_eq!(steps, [Step::TakeAway(id()), Step::Purge(id()), Step::Forget(id(), Some(marker()))]);
    }
}
