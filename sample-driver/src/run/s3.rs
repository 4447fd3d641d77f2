//! The driver for a service elsewhere.

use std::{fs, io, path::PathBuf};

use cosi_driver_sdk::{AddressingStyle, NameLedger, OpenLedgerError, Server};

use super::{RunError, keep_apart};
use crate::{
    driver::Profile,
    s3::{Place, S3Driver, Service},
    settings::Settings,
};

/// The ledger can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerFileError {
    /// There is no folder for it, and none can be made.
    #[error("make the ledger's folder {}", .0.display())]
    Folder(PathBuf, #[source] io::Error),
    /// It can't be opened.
    #[error(transparent)]
    Open(#[from] OpenLedgerError),
}

/// Serves COSI until `stop` resolves; then lets running calls end.
pub(super) async fn run(settings: &Settings, stop: impl Future<Output = ()>) -> Result<(), RunError> {
    keep_apart("--ledger", &settings.ledger(), &settings.endpoint)?;
    let ledger = open_ledger(settings)?;
    let place = place(settings);
    tracing::info!(
        s3 = place.s3,
        iam = place.iam,
        region = place.region,
        "buckets are made at a service elsewhere"
    );
    let service = Service::at(&place).await;
    let driver = S3Driver::new(service.buckets, service.users, ledger.clone(), profile(settings));
    let driver = Server::new(driver).bind(&settings.endpoint).await?;
    tokio::select! {
        ended = driver.run_until(stop) => Ok(ended?),
        () = ledger.broken() => Err(RunError::Ledger),
    }
}

fn open_ledger(settings: &Settings) -> Result<NameLedger, LedgerFileError> {
    let path = settings.ledger();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|e| LedgerFileError::Folder(folder.to_owned(), e))?;
    }
    Ok(NameLedger::open(path, &settings.driver_name)?)
}

fn place(settings: &Settings) -> Place {
    Place {
        s3: settings.s3_endpoint.clone(),
        iam: settings.iam_endpoint.clone().or_else(|| settings.s3_endpoint.clone()),
        region: settings.region.clone(),
        path_style: settings.s3_path_style,
    }
}

fn profile(settings: &Settings) -> Profile {
    let aws = || format!("https://s3.{}.amazonaws.com", settings.region);
    Profile {
        info: settings.driver_name.clone(),
        endpoint: settings.s3_endpoint.clone().unwrap_or_else(aws),
        region: settings.region.clone(),
        addressing_style: if settings.s3_path_style {
            AddressingStyle::Path
        } else {
            AddressingStyle::Virtual
        },
        create_delay: settings.create_delay,
        grant_delay: settings.grant_delay,
    }
}
