//! Paths below a bucket's `objects` folder: where a key can't live beside another one.

use std::{fs, io, path::Path};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};

use crate::store::OBJECTS;

/// What is at a key's path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// Nothing, and an object can be put there.
    Free,
    /// An object.
    Object,
    /// A folder: keys `<key>/…` exist or existed. No object can be put there.
    Folder,
    /// Below an object: a key that is a prefix of this one is taken. No object can be put there.
    BelowObject,
}

/// Looks at `key` in the folder of a bucket.
pub(crate) fn place(bucket: &Path, key: &str) -> Place {
    let mut path = bucket.join(OBJECTS);
    let mut segments = key.split('/').peekable();
    while let Some(segment) = segments.next() {
        path.push(segment);
        let last = segments.peek().is_none();
        match path.symlink_metadata() {
            Err(_) => return Place::Free,
            Ok(meta) if meta.is_dir() && last => return Place::Folder,
            Ok(meta) if meta.is_dir() => {}
            Ok(_) if last => return Place::Object,
            Ok(_) => return Place::BelowObject,
        }
    }
    Place::Free
}

/// Like [`place`], after removing folders that deleted keys left empty at this key's path.
pub(crate) fn place_for_put(bucket: &Path, key: &str) -> Place {
    match place(bucket, key) {
        Place::Folder if remove_empty(&bucket.join(OBJECTS).join(key)) => Place::Free,
        found => found,
    }
}

/// Removes a tree of empty folders; whether it is gone. Stops at the first thing that isn't an empty folder.
fn remove_empty(folder: &Path) -> bool {
    let inner = fs::read_dir(folder).into_iter().flatten().flatten();
    inner
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .all(|entry| remove_empty(&entry.path()))
        && fs::remove_dir(folder).is_ok()
}

/// Forgets the stored checksums of a key. s3s-fs would attach those of an old object to a new one made by multipart upload.
pub(crate) fn forget_checksums(bucket: &Path, key: &str) -> io::Result<()> {
    let encode = |text: &str| BASE64_URL_SAFE_NO_PAD.encode(text);
    let file = format!(".bucket-{}.object-{}.internal.json", encode(OBJECTS), encode(key));
    match fs::remove_file(bucket.join(file)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket_with(keys: &[&str]) -> tempfile::TempDir {
        let bucket = tempfile::tempdir().unwrap();
        for key in keys {
            let path = bucket.path().join(OBJECTS).join(key);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        bucket
    }

    #[test]
    fn a_key_finds_an_object_a_folder_a_blocked_or_a_free_place() {
        let bucket = bucket_with(&["a/b", "c"]);
        assert_eq!(place(bucket.path(), "a/b"), Place::Object);
        assert_eq!(place(bucket.path(), "a"), Place::Folder);
        assert_eq!(place(bucket.path(), "c/d"), Place::BelowObject);
        assert_eq!(place(bucket.path(), "a/x/y"), Place::Free);
    }

    #[test]
    fn folders_that_deleted_keys_left_behind_do_not_block_a_new_key() {
        let bucket = bucket_with(&["a/b/c"]);
        assert_eq!(place_for_put(bucket.path(), "a"), Place::Folder);
        fs::remove_file(bucket.path().join(OBJECTS).join("a/b/c")).unwrap();
        assert_eq!(place_for_put(bucket.path(), "a"), Place::Free);
    }
}
