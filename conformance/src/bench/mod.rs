//! What a check works with: the driver, requests to send it, a list of what was made, and a place for findings.

mod accounts;
mod buckets;
mod findings;
mod made;
mod names;
mod objects;
mod sight;
mod undo;

use std::collections::BTreeMap;
use std::sync::Arc;

use cosi_proto::v1alpha2 as wire;
use tokio::sync::OnceCell;
use tonic::Code;
use wire::object_protocol::Type as Protocol;

pub(crate) use self::accounts::{Account, Mode};
pub(crate) use self::accounts::{accessed, undo as undo_grant};
pub(crate) use self::buckets::{
    Bucket, UNKNOWN_PARAMETER, protocols_of, undo as undo_create, unprepared, wrong_id,
};
pub(crate) use self::findings::{Findings, Stop};
pub(crate) use self::made::Made;
pub(crate) use self::names::Names;
pub(crate) use self::sight::{Sight, with_other_mode};

use crate::driver::failure::{Failure, name};
use crate::driver::rpc::Rpc;
use crate::driver::{Answer, Driver};
use crate::report::Verdict;
use crate::s3::S3;
use crate::settings::Settings;

/// How a check, or a part of one, ends.
pub(crate) type Tried<T = ()> = Result<T, Stop>;

/// What all checks of a run share.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) driver: Driver,
    pub(crate) s3: S3,
    names: Names,
    /// What the driver told about itself, if it did.
    pub(crate) info: Option<wire::DriverGetInfoResponse>,
    sight: OnceCell<Sight>,
}

impl Shared {
    pub(crate) fn new(settings: Settings, driver: Driver, info: Option<wire::DriverGetInfoResponse>) -> Self {
        let names = Names::new(&settings.name_prefix);
        let s3 = S3::new(settings.s3_endpoint.clone(), settings.timeout, settings.settle);
        driver.journal.hide(settings.parameter_values());
        Self { settings, driver, s3, names, info, sight: OnceCell::new() }
    }

    /// The protocol that buckets and accounts are asked for.
    pub(crate) fn protocol(&self) -> Protocol {
        let first =
            self.info.iter().flat_map(|info| &info.supported_protocols).map(wire::ObjectProtocol::r#type);
        let known = first.filter(|protocol| *protocol != Protocol::Unknown).min();
        self.settings.protocol.map(Into::into).or(known).unwrap_or(Protocol::S3)
    }

    /// A protocol that the driver doesn't name among its own.
    pub(crate) fn foreign_protocol(&self) -> Option<Protocol> {
        let own = |protocol: &Protocol| {
            self.info.iter().flat_map(|info| &info.supported_protocols).any(|own| own.r#type() == *protocol)
        };
        let all = [Protocol::S3, Protocol::Azure, Protocol::Gcs];
        // A driver that names none can't have meant that.
        all.into_iter().find(|protocol| !own(protocol)).filter(|_| all.iter().any(own))
    }
}

/// What one check works with.
pub(crate) struct Bench {
    pub(crate) shared: Arc<Shared>,
    pub(crate) made: Made,
    pub(crate) findings: Findings,
    /// What came of the checks before this one.
    verdicts: BTreeMap<&'static str, Verdict>,
}

impl Bench {
    pub(crate) fn new(shared: Arc<Shared>, verdicts: BTreeMap<&'static str, Verdict>) -> Self {
        Self { shared, made: Made::default(), findings: Findings::default(), verdicts }
    }

    /// For what a check uses if the driver has it: it must not be broken.
    pub(crate) fn builds_upon(&self, id: &str) -> Tried {
        match self.verdicts.get(id) {
            Some(Verdict::Failed) => Err(Stop::Skip(format!("it builds upon {id}, which failed"))),
            _ => Ok(()),
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.shared.driver
    }

    /// Sends a request that can make nothing.
    pub(crate) async fn ask<R: Rpc>(&self, request: R) -> Answer<R> {
        self.driver().ask(request).await
    }

    /// Breaks the requirement that the check is about.
    pub(crate) fn wrong(&self, text: impl Into<String>) {
        self.findings.add(None, text.into());
    }

    /// Breaks a SHOULD, though the check may be about a MUST.
    pub(crate) fn unwise(&self, text: impl Into<String>) {
        self.findings.add(Some(crate::checks::Severity::Should), text.into());
    }

    /// Something that the reader should know, such as what could not be tried.
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.findings.note(text.into());
    }

    /// A finding if the answer to `what` has none of these codes.
    pub(crate) fn expect<T>(&self, what: &str, answer: &Result<T, Failure>, codes: &[Code]) {
        let right = match answer {
            Ok(_) => codes.contains(&Code::Ok),
            Err(failure) => failure.code().is_some_and(|code| codes.contains(&code)),
        };
        if !right {
            let wanted: Vec<_> = codes.iter().map(|code| name(*code)).collect();
            let got =
                answer.as_ref().err().map_or_else(|| "the answer was OK".to_owned(), Failure::to_string);
            self.wrong(format!("{what}: {got}. {} would be right", wanted.join(" or ")));
        }
    }
}

pub(crate) fn wire_protocol(protocol: impl Into<i32>) -> wire::ObjectProtocol {
    wire::ObjectProtocol { r#type: protocol.into() }
}
