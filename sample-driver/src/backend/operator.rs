//! The operator's key pair: made once, kept in a file that only its owner reads, never printed.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use crate::store::KeyPair;

/// The key file can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OperatorKeyError {
    /// It can't be read or written.
    #[error("credentials file {0} can't be used")]
    File(PathBuf, #[source] io::Error),
    /// It holds something else.
    #[error("credentials file {0} lacks {1}; delete it to get a new key pair")]
    Malformed(PathBuf, &'static str),
}

const ACCESS_KEY: &str = "aws_access_key_id";
const SECRET: &str = "aws_secret_access_key";

/// The key pair that may read and write objects in every bucket: read from `file`, or made and written there, readable by its
/// owner only. The format is that of an AWS shared credentials file, so `AWS_SHARED_CREDENTIALS_FILE` may point to it.
///
/// # Errors
/// When the file can't be read or written, or isn't what this function writes.
pub fn operator_key(file: &Path) -> Result<KeyPair, OperatorKeyError> {
    let cannot = |e| OperatorKeyError::File(file.into(), e);
    match fs::read_to_string(file) {
        Ok(text) => parse(file, &text),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let key = KeyPair::random();
            write(&key, file).map_err(cannot)?;
            Ok(key)
        }
        Err(e) => Err(cannot(e)),
    }
}

fn parse(file: &Path, text: &str) -> Result<KeyPair, OperatorKeyError> {
    let value = |name| {
        let mut pairs = text.lines().filter_map(|line| line.split_once('='));
        let found = pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim());
        found.filter(|value| !value.is_empty()).ok_or_else(|| OperatorKeyError::Malformed(file.into(), name))
    };
    Ok(KeyPair { access_key: value(ACCESS_KEY)?.to_owned(), secret: value(SECRET)?.into() })
}

/// Written aside and moved into place, so that a crash leaves no half key.
fn write(key: &KeyPair, file: &Path) -> io::Result<()> {
    let aside = file.with_extension("new");
    let mut out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
    writeln!(out, "[default]\n{ACCESS_KEY} = {}\n{SECRET} = {}", key.access_key, key.secret.expose())?;
    out.sync_all()?;
    fs::rename(aside, file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_pair_is_made_once_and_read_ever_after() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("credentials");
        let first = operator_key(&file).unwrap();
        let again = operator_key(&file).unwrap();
        assert_eq!(first.access_key, again.access_key);
        assert_eq!(first.secret.expose(), again.secret.expose());
        assert_eq!((first.access_key.len(), first.secret.expose().len()), (20, 40));
    }

    #[test]
    fn only_the_owner_may_read_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("credentials");
        operator_key(&file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_secret_is_neither_in_debug_output_nor_in_errors() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("credentials");
        let key = operator_key(&file).unwrap();
        assert!(!format!("{key:?}").contains(key.secret.expose()));
        fs::write(&file, "aws_secret_access_key = canary").unwrap();
        let error = operator_key(&file).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("canary"));
    }
}
