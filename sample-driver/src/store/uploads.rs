//! Multipart uploads that were begun and not ended, read from the files that s3s-fs keeps beside the objects.

use std::{fs, io, path::Path, time::SystemTime};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};

use super::folders::OBJECTS;

/// An unfinished multipart upload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Upload {
    /// Key of the object-to-be; empty if it is no longer known.
    pub key: String,
    /// The id that the client got.
    pub id: String,
    /// Access key of who began it; empty if that is no longer known.
    pub owner: String,
    /// When it was begun.
    pub begun: SystemTime,
}

/// All unfinished uploads in a bucket's folder, sorted by key and id. A missing folder has none.
pub(crate) fn unfinished(folder: &Path) -> io::Result<Vec<Upload>> {
    let names = names_in(folder)?;
    let mut uploads = Vec::new();
    for name in &names {
        let Some(id) = name.strip_prefix(".upload-").and_then(|rest| rest.strip_suffix(".json")) else {
            continue;
        };
        let key = names.iter().find_map(|name| key_of(name, id)).unwrap_or_default();
        let begun = fs::metadata(folder.join(name))
            .and_then(|meta| meta.modified())
            .unwrap_or(SystemTime::UNIX_EPOCH);
        let owner = owner(folder, id)?.unwrap_or_default();
        uploads.push(Upload { key, id: id.to_owned(), owner, begun });
    }
    uploads.sort_by(|a, b| (&a.key, &a.id).cmp(&(&b.key, &b.id)));
    Ok(uploads)
}

/// Access key of who began this upload for this key; `None` if there is no such upload.
pub(crate) fn owner_of(folder: &Path, key: &str, id: &str) -> io::Result<Option<String>> {
    // What isn't a UUID as s3s-fs writes it is no upload's id, and must not become part of a path.
    if id.len() != 36 || !id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f' | b'-')) {
        return Ok(None);
    }
    let encode = |text: &str| BASE64_URL_SAFE_NO_PAD.encode(text);
    let of_key = format!(".bucket-{}.object-{}.upload-{id}.metadata.json", encode(OBJECTS), encode(key));
    if folder.join(of_key).try_exists()? { owner(folder, id) } else { Ok(None) }
}

fn owner(folder: &Path, id: &str) -> io::Result<Option<String>> {
    match fs::read(folder.join(format!(".upload-{id}.json"))) {
        Ok(json) => Ok(serde_json::from_slice(&json)?),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        entries => entries?,
    };
    entries.filter_map(|entry| entry.map(|entry| entry.file_name().into_string().ok()).transpose()).collect()
}

/// `.bucket-<base64>.object-<base64 of the key>.upload-<id>.metadata.json`
fn key_of(file: &str, upload: &str) -> Option<String> {
    let rest = file.strip_prefix(".bucket-")?.strip_suffix(".metadata.json")?;
    let (object, id) = rest.split_once(".object-")?.1.split_once(".upload-")?;
    let key = (id == upload).then(|| BASE64_URL_SAFE_NO_PAD.decode(object).ok())??;
    String::from_utf8(key).ok()
}
