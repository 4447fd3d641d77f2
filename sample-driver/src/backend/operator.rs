//! The operator's key pair: made once, kept in a file that only its owner reads, never printed.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use rand::{Rng as _, distr::Alphanumeric};
use s3s::auth::SecretKey;

/// A key pair that may read and write objects in every bucket.
#[derive(Clone, Debug)]
pub struct OperatorKey {
    /// The public half.
    pub access_key: String,
    /// The secret half; its `Debug` doesn't show it.
    pub secret: SecretKey,
}

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

impl OperatorKey {
    /// Reads the key pair from `file`, or makes one and writes it there, readable by its owner only. The format is that of an
    /// AWS shared credentials file, so `AWS_SHARED_CREDENTIALS_FILE` may point to it.
    ///
    /// # Errors
    /// When the file can't be read or written, or isn't what this function writes.
    pub fn load_or_make(file: &Path) -> Result<Self, OperatorKeyError> {
        let cannot = |e| OperatorKeyError::File(file.into(), e);
        match fs::read_to_string(file) {
            Ok(text) => Self::parse(file, &text),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let key = Self::new();
                key.write(file).map_err(cannot)?;
                Ok(key)
            }
            Err(e) => Err(cannot(e)),
        }
    }

    fn new() -> Self {
        let random =
            |length| rand::rng().sample_iter(Alphanumeric).take(length).map(char::from).collect::<String>();
        Self { access_key: random(20).to_uppercase(), secret: random(40).into() }
    }

    fn parse(file: &Path, text: &str) -> Result<Self, OperatorKeyError> {
        let value = |name| {
            let mut pairs = text.lines().filter_map(|line| line.split_once('='));
            let found = pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim());
            found
                .filter(|value| !value.is_empty())
                .ok_or_else(|| OperatorKeyError::Malformed(file.into(), name))
        };
        Ok(Self { access_key: value(ACCESS_KEY)?.to_owned(), secret: value(SECRET)?.into() })
    }

    /// Written aside and moved into place, so that a crash leaves no half key.
    fn write(&self, file: &Path) -> io::Result<()> {
        let aside = file.with_extension("new");
        let mut out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
        writeln!(out, "[default]\n{ACCESS_KEY} = {}\n{SECRET} = {}", self.access_key, self.secret.expose())?;
        out.sync_all()?;
        fs::rename(aside, file)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_pair_is_made_once_and_read_ever_after() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("credentials");
        let first = OperatorKey::load_or_make(&file).unwrap();
        let again = OperatorKey::load_or_make(&file).unwrap();
        assert_eq!(first.access_key, again.access_key);
        assert_eq!(first.secret.expose(), again.secret.expose());
        assert_eq!((first.access_key.len(), first.secret.expose().len()), (20, 40));
    }

    #[test]
    fn only_the_owner_may_read_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("credentials");
        OperatorKey::load_or_make(&file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_secret_is_neither_in_debug_output_nor_in_errors() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("credentials");
        let key = OperatorKey::load_or_make(&file).unwrap();
        assert!(!format!("{key:?}").contains(key.secret.expose()));
        fs::write(&file, "aws_secret_access_key = canary").unwrap();
        let error = OperatorKey::load_or_make(&file).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("canary"));
    }
}
