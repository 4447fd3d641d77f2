//! What a driver knows after a restart.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{Instant, sleep};
use tonic::Code;

use super::base::{BUCKET_ID, DELETE};
use super::{Check, Severity};
use crate::bench::{Account, Bench, Bucket, Mode, Stop, Tried};
use crate::driver::rpc::Info;
use crate::settings::Restart;

pub(super) const CHECKS: &[Check] = &[Check {
    id: "a-restart-forgets-nothing",
    severity: Severity::Must,
    requirements: &["COSI-GEN-6", "COSI-CREATE-1", "COSI-GRANT-1"],
    description: "After the driver was restarted, the same create and the same grant answer the same ids, and what was made can \
                  be deleted by name. Tried with --restart-command only.",
    needs: &[BUCKET_ID, DELETE],
    run: |bench| Box::pin(forgets_nothing(bench)),
}];

async fn forgets_nothing(bench: &Bench) -> Tried {
    let Some(restart) = &bench.settings().restart_command else {
        return Err(Stop::Skip("the driver can't be restarted from here: say how with --restart-command".to_owned()));
    };
    let (kept, undone) = (bench.bucket().await?, bench.bucket().await?);
    let account = bench.account(&kept, Mode::ReadWrite).await.ok();
    run(restart, bench.driver().timeout()).await?;
    wait_for_driver(bench).await?;
    again(bench, &kept, account.as_ref()).await;
    match bench.delete_by_name(&undone.request).await {
        Err(failure) if failure.is(Code::Unimplemented) => {}
        Err(failure) => bench.wrong(format!("a bucket from before the restart is deleted by name: {failure}")),
        Ok(_) => match bench.bucket_is_there(&undone.request, Some(&undone.id)).await {
            Ok(false) => {}
            Ok(true) => {
                bench.made.bucket_found(&undone.request, Some(&undone.id));
                bench.wrong(format!(
                    "bucket {} from before the restart is there after its deletion by name was OK",
                    undone.request.name
                ));
            }
            Err(Stop::Skip(why)) => bench.note(why),
            Err(stop) => return Err(stop),
        },
    }
    Ok(())
}

async fn again(bench: &Bench, bucket: &Bucket, account: Option<&Account>) {
    let answer = bench.create(&bucket.request).await;
    bench.expect("after the restart, the same bucket is asked for", &answer, &[Code::Ok]);
    if answer.is_ok_and(|again| again.bucket_id != bucket.id) {
        bench.wrong(format!("after the restart, bucket {} has another id", bucket.request.name));
    }
    let Some(account) = account else { return };
    let answer = bench.grant(&account.request).await;
    bench.expect("after the restart, the same access is asked for", &answer, &[Code::Ok]);
    if answer.is_ok_and(|again| again.account_id != account.id()) {
        bench.wrong(format!("after the restart, account {} has another id", account.request.account_name));
    }
}

async fn run(restart: &Restart, limit: Duration) -> Tried {
    let command = match restart {
        Restart::Call(restart) => return restart().await.map_err(failed),
        Restart::Command(command) => command,
    };
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let ended = tokio::time::timeout(limit, shell.status()).await;
    match ended {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(failed(format!("it ended with {status}"))),
        Ok(Err(error)) => Err(failed(format!("it can't be run: {error}"))),
        Err(_) => Err(failed(format!("it did not end within {limit:?}"))),
    }
}

fn failed(why: String) -> Stop {
    Stop::Fail(format!("the driver could not be restarted by --restart-command: {why}"))
}

/// A command may return a little too early.
async fn wait_for_driver(bench: &Bench) -> Tried {
    let begun = Instant::now();
    loop {
        match bench.ask(Info {}).await {
            Ok(_) => return Ok(()),
            Err(failure) if begun.elapsed() > bench.driver().timeout() => {
                return Err(Stop::Fail(format!("the driver is not back after its restart: {failure}")));
            }
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}
