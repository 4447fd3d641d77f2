//! What is true of all errors, whichever check they came up in. Each of these provokes some of its own first.

use tonic::Code;

use super::base::{BUCKET_ID, GRANT};
use super::{Check, Severity};
use crate::bench::{Account, Bench, Mode, Stop, Tried, UNKNOWN_PARAMETER, wire_protocol, with_other_mode};
use crate::driver::failure::name;
use crate::driver::journal::Refused;
use crate::driver::rpc::{Delete, Existing};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "every-error-has-a-message",
        severity: Severity::Must,
        requirements: &["COSI-ERR-1"],
        description: "No error of the run came without a message.",
        needs: &[],
        run: |bench| Box::pin(messages(bench)),
    },
    Check {
        id: "no-error-has-details",
        severity: Severity::Must,
        requirements: &["COSI-ERR-1"],
        description: "No error of the run came with details.",
        needs: &[],
        run: |bench| Box::pin(details(bench)),
    },
    Check {
        id: "error-messages-are-short",
        severity: Severity::Should,
        requirements: &["COSI-ERR-11"],
        description: "No error message of the run has more than 4096 bytes.",
        needs: &[],
        run: |bench| Box::pin(short(bench)),
    },
    Check {
        id: "no-code-is-used-for-everything",
        severity: Severity::Must,
        requirements: &["COSI-ERR-12"],
        description: "Errors of different kinds in the run had different codes.",
        needs: &[BUCKET_ID],
        run: |bench| Box::pin(codes(bench)),
    },
    Check {
        id: "no-error-tells-a-credential",
        severity: Severity::Must,
        requirements: &["COSI-ERR-1", "COSI-SECRET-1"],
        description: "No credential that a grant answered is in an error message of the run.",
        needs: &[GRANT],
        run: |bench| Box::pin(credentials(bench)),
    },
    Check {
        id: "no-error-tells-a-parameter",
        severity: Severity::Should,
        requirements: &["COSI-SECRET-2"],
        description: "An error about a parameter does not hold its value.",
        needs: &[BUCKET_ID],
        run: |bench| Box::pin(parameters(bench)),
    },
];

/// Calls that must be refused, so that there is something to look at whatever was picked.
async fn provoke(bench: &Bench) {
    let _refused = bench.ask(Delete::default()).await;
    let _refused = bench.ask(Existing::default()).await;
    let mut request = bench.create_request();
    request.protocols.push(wire_protocol(0));
    let _refused = bench.create(&request).await;
}

async fn each(bench: &Bench, wrong: impl Fn(&Refused) -> Option<String>) -> Tried {
    provoke(bench).await;
    let mut told: Vec<String> = Vec::new();
    for refused in bench.driver().journal.all_refused() {
        if let Some(what) = wrong(&refused) {
            told.push(format!("{} answered {} {what}", refused.rpc, name(refused.code())));
        }
    }
    told.dedup();
    for text in told {
        bench.wrong(text);
    }
    Ok(())
}

async fn messages(bench: &Bench) -> Tried {
    each(bench, |refused| {
        refused.message.trim().is_empty().then(|| "without a message: nobody will know what to do".to_owned())
    })
    .await
}

async fn details(bench: &Bench) -> Tried {
    each(bench, |refused| (refused.details > 0).then(|| "with details, which must be empty".to_owned())).await
}

async fn short(bench: &Bench) -> Tried {
    each(bench, |refused| {
        let length = refused.message.len();
        (length > 4096).then(|| {
            format!("with a message of {length} bytes; clients limit the headers that it travels in")
        })
    })
    .await
}

async fn codes(bench: &Bench) -> Tried {
    provoke(bench).await;
    let bucket = bench.bucket().await?;
    let _refused = bench.create(&bench.other_request(&bucket.request)).await;
    let mut refused = bench.driver().journal.all_refused();
    // What every driver may answer to anything says nothing about how it tells errors apart.
    refused.retain(|refused| ![Code::Unimplemented, Code::Aborted].contains(&refused.code()));
    let kinds: std::collections::BTreeSet<_> =
        refused.iter().map(|refused| (refused.rpc, &refused.message)).collect();
    let Some(first) = refused.first() else { return Ok(()) };
    let one_code = refused.iter().all(|refused| refused.code == first.code);
    if one_code && first.code() != Code::InvalidArgument && kinds.len() > 1 {
        bench.wrong(format!(
            "{} different errors all had the code {}: the sidecar can't tell what to try again from what to give up",
            kinds.len(),
            name(first.code())
        ));
    }
    Ok(())
}

async fn credentials(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    let account = bench.account(&bucket, Mode::ReadWrite).await?;
    let _refused = bench.grant(&with_other_mode(&account.request)).await;
    let mut odd = account.request.clone();
    odd.parameters.insert(UNKNOWN_PARAMETER.to_owned(), "1".to_owned());
    let _refused = bench.grant(&odd).await;
    let mut nameless: Account = account;
    nameless.granted.account_id.clear();
    let _refused = bench.revoke(&nameless).await;
    let journal = &bench.driver().journal;
    each(bench, |refused| {
        journal.gives_away(&refused.message).then(|| "with a credential in its message".to_owned())
    })
    .await
}

async fn parameters(bench: &Bench) -> Tried {
    let canary = format!("canary-{:08x}", rand::random::<u32>());
    let mut request = bench.create_request();
    request.parameters.insert(UNKNOWN_PARAMETER.to_owned(), canary.clone());
    let mut twisted = request.clone();
    twisted.protocols.push(wire_protocol(0));
    let mut answers = vec![bench.create(&request).await, bench.create(&twisted).await];
    answers.retain(Result::is_err);
    if answers.is_empty() {
        return Err(Stop::Skip("the driver refuses nothing that has a parameter in it".to_owned()));
    }
    let told =
        bench.driver().journal.all_refused().into_iter().any(|refused| refused.message.contains(&canary));
    bench.driver().journal.hide([canary]);
    if told {
        bench.wrong("an error message holds the value of a parameter; people put passwords there");
    }
    Ok(())
}
