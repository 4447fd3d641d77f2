//! What a driver knows after a restart.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{Instant, sleep};
use tonic::Code;

use super::base::{ACCOUNT_AGAIN, BUCKET_AGAIN, GONE_BY_NAME};
use super::{Check, Severity};
use crate::bench::{Bench, Mode, Stop, Tried, undo_create};
use crate::driver::rpc::Info;
use crate::settings::Restart;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "a-restart-forgets-no-bucket",
        severity: Severity::Must,
        requirements: &["COSI-GEN-6", "COSI-CREATE-1"],
        description: "After the driver was restarted, the same create answers the same bucket_id. Tried with --restart-command \
                      only, as the two that follow.",
        needs: &[BUCKET_AGAIN],
        run: |bench| Box::pin(no_bucket(bench)),
    },
    Check {
        id: "a-restart-forgets-no-name",
        severity: Severity::Must,
        requirements: &["COSI-GEN-6", "COSI-DELNAME-4"],
        description: "After the driver was restarted, a bucket from before is deleted by its name.",
        needs: &[GONE_BY_NAME],
        run: |bench| Box::pin(no_name(bench)),
    },
    Check {
        id: "a-restart-forgets-no-account",
        severity: Severity::Must,
        requirements: &["COSI-GEN-6", "COSI-GRANT-1"],
        description: "After the driver was restarted, the same grant answers the same account_id.",
        needs: &[ACCOUNT_AGAIN],
        run: |bench| Box::pin(no_account(bench)),
    },
];

async fn no_bucket(bench: &Bench) -> Tried {
    let restart = restart(bench)?;
    let bucket = bench.bucket().await?;
    run(bench, restart).await?;
    let answer = bench.create(&bucket.request).await;
    bench.expect("after a restart, the same bucket is asked for", &answer, &[Code::Ok]);
    if answer.is_ok_and(|again| again.bucket_id != bucket.id) {
        bench.wrong(format!(
            "after a restart, bucket {} has another id: the first one is an orphan",
            bucket.request.name
        ));
    }
    Ok(())
}

async fn no_name(bench: &Bench) -> Tried {
    let restart = restart(bench)?;
    let bucket = bench.bucket().await?;
    run(bench, restart).await?;
    let answer = bench.patiently(|| bench.ask(undo_create(&bucket.request))).await;
    bench.expect("after a restart, a bucket from before is deleted by its name", &answer, &[Code::Ok]);
    if answer.is_ok() && bench.bucket_is_there(&bucket.request, Some(&bucket.id)).await? {
        bench.wrong(format!(
            "after a restart, bucket {} is still there though its deletion by name was OK",
            bucket.request.name
        ));
    }
    Ok(())
}

async fn no_account(bench: &Bench) -> Tried {
    let restart = restart(bench)?;
    let account = bench.account(&bench.bucket().await?, Mode::ReadWrite).await?;
    run(bench, restart).await?;
    let answer = bench.grant(&account.request).await;
    bench.expect("after a restart, the same access is asked for", &answer, &[Code::Ok]);
    if answer.is_ok_and(|again| again.account_id != account.id()) {
        bench.wrong(format!("after a restart, account {} has another id", account.request.account_name));
    }
    Ok(())
}

fn restart(bench: &Bench) -> Result<&Restart, Stop> {
    let missing =
        || Stop::Skip("the driver can't be restarted from here: say how with --restart-command".to_owned());
    bench.settings().restart_command.as_ref().ok_or_else(missing)
}

/// Restarts the driver, and waits until it answers: a command may return a little too early.
async fn run(bench: &Bench, restart: &Restart) -> Tried {
    let limit = bench.driver().timeout();
    do_it(restart, limit).await?;
    let begun = Instant::now();
    loop {
        match bench.ask(Info {}).await {
            Ok(_) => return Ok(()),
            Err(failure) if begun.elapsed() > limit => {
                return Err(Stop::Fail(format!("the driver is not back after its restart: {failure}")));
            }
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn do_it(restart: &Restart, limit: Duration) -> Tried {
    let command = match restart {
        Restart::Call(restart) => return restart().await.map_err(|why| failed(&why)),
        Restart::Command(command) => command,
    };
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let ended = tokio::time::timeout(limit, shell.status()).await;
    match ended {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(failed(&format!("it ended with {status}"))),
        Ok(Err(error)) => Err(failed(&format!("it can't be run: {error}"))),
        Err(_) => Err(failed(&format!("it did not end within {limit:?}"))),
    }
}

fn failed(why: &str) -> Stop {
    Stop::Fail(format!("the driver could not be restarted by --restart-command: {why}"))
}
