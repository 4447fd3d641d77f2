//! The report as JUnit XML, which most CI systems show.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report as Xml, TestCase, TestCaseStatus, TestSuite};

use super::{Outcome, Report, Verdict};
use crate::checks::GROUPS;

/// The report can't be made.
#[derive(Debug, thiserror::Error)]
#[error("make the JUnit report")]
pub struct ReportError(#[from] quick_junit::SerializeError);

/// One suite for each group of checks. JUnit knows no warnings: they are output of a check that passed, or failures if
/// `strict`.
///
/// # Errors
/// If the report can't be written as XML.
pub fn junit(report: &Report, strict: bool) -> Result<String, ReportError> {
    let mut xml = Xml::new("cosi-conformance");
    xml.set_time(duration(report.seconds));
    for group in GROUPS {
        let ids: Vec<&str> = group.checks.iter().map(|check| check.id).collect();
        let outcomes: Vec<&Outcome> =
            report.outcomes.iter().filter(|found| ids.contains(&found.id)).collect();
        if outcomes.is_empty() {
            continue;
        }
        let mut suite = TestSuite::new(group.title);
        suite.set_time(duration(outcomes.iter().map(|outcome| outcome.seconds).sum()));
        suite.add_test_cases(outcomes.into_iter().map(|outcome| case(outcome, strict)));
        xml.add_test_suite(suite);
    }
    Ok(xml.to_string()?)
}

fn case(outcome: &Outcome, strict: bool) -> TestCase {
    let failed = outcome.verdict == Verdict::Failed || (strict && outcome.verdict == Verdict::Warned);
    let findings: Vec<&str> = outcome.findings.iter().map(|finding| finding.text.as_str()).collect();
    let status = if failed {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(outcome.requirements.join(" "));
        status.set_message(findings.first().copied().unwrap_or_default());
        status.set_description(findings.join("\n"));
        status
    } else if outcome.verdict == Verdict::Skipped {
        let mut status = TestCaseStatus::skipped();
        status.set_message(outcome.notes.join("; "));
        status
    } else {
        TestCaseStatus::success()
    };
    let mut case = TestCase::new(outcome.id, status);
    case.set_classname("cosi-conformance");
    case.set_time(duration(outcome.seconds));
    if outcome.verdict == Verdict::Warned {
        case.set_system_out(format!("warning: {}", findings.join("\nwarning: ")));
    }
    case
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
