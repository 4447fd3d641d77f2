//! The socket file: how it gets there though a dead one may be in its place (C40), and how it goes.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, fchmod, flock};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{Instant, sleep};

use super::endpoint::Endpoint;

const BACKLOG: i32 = 128;
/// How long another process may take to put its socket into the same folder.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);
const LOCK_POLL: Duration = Duration::from_millis(20);

/// The socket could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The folder that is to hold the socket can't be opened.
    #[error("open the folder of the socket {}", .path.display())]
    Folder {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Other processes kept the folder locked while they put sockets there.
    #[error("another process has kept the folder of the socket {} locked for seconds", .path.display())]
    FolderLocked {
        /// The socket.
        path: PathBuf,
    },
    /// Another process listens on it: most likely a second copy of the driver.
    #[error("the socket {} is in use: another process listens on it", .path.display())]
    InUse {
        /// The socket.
        path: PathBuf,
    },
    /// There is something else, which is left alone.
    #[error("{} is there already and is not a socket", .path.display())]
    NotASocket {
        /// What is there.
        path: PathBuf,
    },
    /// Whether anybody listens on the old socket can't be told, so it is left alone.
    #[error("find out whether anybody listens on the socket {}", .path.display())]
    Probe {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The old socket can't be removed.
    #[error("remove the stale socket {}", .path.display())]
    RemoveStale {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The new socket can't be made.
    #[error("listen on the socket {}", .path.display())]
    Listen {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The descriptions of the services that are built in can't be read.
    #[error("describe the server's own services")]
    Reflection(#[source] tonic_reflection::server::Error),
}

/// A socket file of this process; removed when dropped, unless somebody else's is in its place.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

/// Puts a listening socket at the endpoint, with these permissions. A dead one in its place is removed.
///
/// Between looking at the old socket and having the new one, the folder is locked, so that of two drivers that start at
/// once, one does not remove the other's fresh socket.
pub(crate) async fn bind_socket(
    endpoint: &Endpoint,
    mode: u32,
) -> Result<(UnixListener, SocketFile), BindError> {
    let path = endpoint.path().to_owned();
    let _lock = lock_folder(&path).await?;
    remove_stale(&path).await?;
    listen_at(&path, mode).map_err(|source| BindError::Listen { path, source })
}

async fn lock_folder(path: &Path) -> Result<File, BindError> {
    let give_up = Instant::now() + LOCK_PATIENCE;
    let folder = File::open(path.parent().unwrap_or(path))
        .map_err(|source| BindError::Folder { path: path.to_owned(), source })?;
    loop {
        match flock(&folder, FlockOperation::NonBlockingLockExclusive).map_err(io::Error::from) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() != ErrorKind::WouldBlock => {
                // Some file systems have no locks; what is left then is the short race of two starts at once.
                tracing::debug!(%error, "the folder of the socket can't be locked");
                return Ok(folder);
            }
            Err(_) if Instant::now() >= give_up => {
                return Err(BindError::FolderLocked { path: path.to_owned() });
            }
            Err(_) => sleep(LOCK_POLL).await,
        }
    }
}

async fn remove_stale(path: &Path) -> Result<(), BindError> {
    let there = match fs::symlink_metadata(path) {
        Ok(there) => there,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(BindError::Probe { path: path.to_owned(), source }),
    };
    if !there.file_type().is_socket() {
        return Err(BindError::NotASocket { path: path.to_owned() });
    }
    match UnixStream::connect(path).await {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
        // A listener that is too busy to take a connection is a listener.
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            return Err(BindError::InUse { path: path.to_owned() });
        }
        Err(source) => return Err(BindError::Probe { path: path.to_owned(), source }),
        Ok(_) => return Err(BindError::InUse { path: path.to_owned() }),
    }
    match fs::remove_file(path) {
        Ok(()) => {
            tracing::info!(path = %path.display(), "removed the stale socket of an earlier process");
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(BindError::RemoveStale { path: path.to_owned(), source }),
    }
}

fn listen_at(path: &Path, mode: u32) -> io::Result<(UnixListener, SocketFile)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    // Linux gives the file the mode of the socket (less the umask): so it is never open to more than it will be.
    fchmod(&socket, Mode::from_raw_mode(mode))?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    let there = fs::symlink_metadata(path)?;
    let file = SocketFile { path: path.to_owned(), identity: (there.dev(), there.ino()) };
    fs::set_permissions(path, Permissions::from_mode(mode))?;
    listen(&socket, BACKLOG)?;
    Ok((UnixListener::from_std(StdListener::from(socket))?, file))
}

impl SocketFile {
    fn is_still_ours(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|there| (there.dev(), there.ino()) == self.identity)
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // A successor locks the folder while it replaces the file; if it does so now, the file is no longer ours to remove.
        let folder = self.path.parent().and_then(|folder| File::open(folder).ok());
        let replaced = folder.is_some_and(|folder| {
            flock(&folder, FlockOperation::NonBlockingLockExclusive)
                .is_err_and(|error| error == rustix::io::Errno::WOULDBLOCK)
        });
        if !replaced && self.is_still_ours() {
            // What can't be removed is a stale socket, which the next start removes.
            let _ = fs::remove_file(&self.path);
        }
    }
}
