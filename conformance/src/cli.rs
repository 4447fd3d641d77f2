//! The command line: reads the flags, prints, writes files, and says by the exit code how it went.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;
use serde::Serialize;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::report::{self, Report, ReportError};
use crate::run::RunError;
use crate::settings::Settings;
use crate::{list, probe, run};

/// A requirement is broken.
const FINDINGS: u8 = 1;
/// The driver could not be tested, or not to the end.
const NOT_RUN: u8 = 2;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CliError {
    /// The driver can't be tested.
    #[error(transparent)]
    Run(#[from] RunError),
    /// SIGINT and SIGTERM can't be waited for, and without them nothing would be cleaned up.
    #[error("wait for signals")]
    Signals(#[source] io::Error),
    /// A report can't be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A report can't be written.
    #[error("write {0}")]
    Write(PathBuf, #[source] io::Error),
}

/// Does what the process's arguments say. Exit code 0: no requirement is broken; 1: some are; 2: it could not be found out.
pub async fn main() -> ExitCode {
    let settings = match Settings::try_parse() {
        Ok(settings) => settings,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            print(&error.to_string());
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("cosi-conformance: {}", sentence(&error.to_string()));
            return NOT_RUN.into();
        }
    };
    match act(settings).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("cosi-conformance: {}", chain(&error));
            NOT_RUN.into()
        }
    }
}

async fn act(settings: Settings) -> Result<ExitCode, CliError> {
    if settings.list {
        print(&list());
        return Ok(ExitCode::SUCCESS);
    }
    // Before anything is made, so that a signal finds somebody who takes it away again.
    let stop = stopped()?;
    let (json, junit, strict) = (settings.json.clone(), settings.junit.clone(), settings.strict);
    if settings.probe {
        let probe = probe(settings, stop).await?;
        print(&probe.to_string());
        write_json(json.as_deref(), &probe)?;
        return Ok(if probe.interrupted { NOT_RUN.into() } else { ExitCode::SUCCESS });
    }
    let report = run(settings, stop, |outcome| print(&report::outcome(outcome))).await?;
    print(&report::end(&report));
    write_json(json.as_deref(), &report)?;
    if let Some(path) = junit {
        let text = report::junit(&report, strict)?;
        std::fs::write(&path, text).map_err(|error| CliError::Write(path, error))?;
    }
    Ok(exit_code(&report, strict))
}

fn exit_code(report: &Report, strict: bool) -> ExitCode {
    if report.interrupted {
        NOT_RUN.into()
    } else if report.is_good() && !(strict && report.has_warnings()) {
        ExitCode::SUCCESS
    } else {
        FINDINGS.into()
    }
}

fn write_json(path: Option<&Path>, what: &impl Serialize) -> Result<(), CliError> {
    let Some(path) = path else { return Ok(()) };
    let failed = |error| CliError::Write(path.to_owned(), error);
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    serde_json::to_writer_pretty(&mut file, what).map_err(|error| failed(error.into()))?;
    writeln!(file).and_then(|()| file.flush()).map_err(failed)
}

/// A reader that went away is no reason to leave things at the backend.
fn print(text: &str) {
    let mut out = io::stdout().lock();
    let _gone = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn stopped() -> Result<impl Future<Output = ()>, CliError> {
    let listen = |kind| signal(kind).map_err(CliError::Signals);
    let (mut interrupt, mut terminate): (Signal, Signal) =
        (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// What is wrong with a flag, without the advice that follows it.
fn sentence(error: &str) -> String {
    let first = error.split("\n\n").next().unwrap_or_default();
    let lines: Vec<&str> = first.trim_start_matches("error: ").lines().map(str::trim).collect();
    lines.join(" ")
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut inner = error;
    while let Some(source) = inner.source() {
        text.extend([": ", &source.to_string()]);
        inner = source;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_flag_is_one_sentence() {
        for flags in
            [["--endpoint", "tcp://x"], ["--only", "nonsense"], ["--no-such-flag", "x"], ["--repeat", "0"]]
        {
            let error = Settings::try_parse_from([&["cosi-conformance"][..], &flags].concat()).unwrap_err();
            let text = sentence(&error.to_string());
            assert!(!text.contains('\n') && !text.starts_with("error") && text.contains(flags[0]), "{text}");
        }
    }
}
