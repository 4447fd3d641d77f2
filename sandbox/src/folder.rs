//! Where the sandbox's files are.

use std::fs::{self, File, create_dir_all};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// `sockaddr_un` has room for 108 bytes, one of them for the end.
const LONGEST_SOCKET: usize = 107;

/// The sandbox's folder. A temporary one goes with it.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _temporary: Option<TempDir>,
}

impl Folder {
    /// The named folder, or a temporary one.
    pub(crate) fn open(named: Option<&Path>) -> io::Result<Self> {
        let (path, temporary) = if let Some(path) = named {
            (std::path::absolute(path)?, None)
        } else {
            let folder = tempfile::Builder::new().prefix("cosi-sandbox-").tempdir()?;
            (folder.path().to_owned(), Some(folder))
        };
        let folder = Self { path, _temporary: temporary };
        if folder.socket().as_os_str().len() > LONGEST_SOCKET {
            return Err(io::Error::other("its path is too long for a UNIX socket in it; name a shorter one"));
        }
        create_dir_all(&folder.path)?;
        // What an earlier sandbox left belongs to objects that are gone; what one that runs has there is its own.
        if folder.path.read_dir()?.next().is_some() {
            return Err(io::Error::other("it is not empty; name a new one"));
        }
        // Nothing else may lie beside a socket.
        create_dir_all(folder.path.join("socket"))?;
        Ok(folder)
    }

    /// What `KUBECONFIG` is to name.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.path.join("kubeconfig")
    }

    /// Writes it whole: who waits for the file finds all of it.
    pub(crate) fn write_kubeconfig(&self, text: &str) -> io::Result<()> {
        let new = self.path.join("kubeconfig.new");
        fs::write(&new, text)?;
        fs::rename(new, self.kubeconfig())
    }

    /// The driver's socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join("socket/cosi.sock")
    }

    /// What the driver keeps.
    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// Where the log of all parts is.
    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    pub(crate) fn create_log(&self) -> io::Result<File> {
        File::options().create(true).append(true).open(self.log())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_folder_goes_and_a_named_one_stays() {
        let temporary = Folder::open(None).unwrap();
        let path = temporary.path.clone();
        assert!(path.join("socket").is_dir());
        drop(temporary);
        assert!(!path.exists());

        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("named");
        drop(Folder::open(Some(&path)).unwrap());
        assert!(path.join("socket").is_dir());
    }

    #[test]
    fn a_path_that_no_socket_can_have_is_refused_before_anything_is_made() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("long".repeat(30));
        let error = Folder::open(Some(&path)).unwrap_err();
        assert!(error.to_string().contains("name a shorter one"), "{error}");
        assert!(!path.exists());
    }

    /// Two sandboxes in one folder would write over each other's files.
    #[test]
    fn a_folder_with_anything_in_it_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        drop(Folder::open(Some(folder.path())).unwrap());
        let error = Folder::open(Some(folder.path())).unwrap_err();
        assert_eq!(error.to_string(), "it is not empty; name a new one");
    }
}
