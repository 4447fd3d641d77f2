//! What the kernel knows of processes and the machine.

use std::fs;

use anyhow::{Context, Result};

/// Resident memory of a process in MB (10⁶ bytes).
pub(crate) fn rss(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("read a process's memory")?;
    resident(&status).context("a process without memory")
}

fn resident(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// Clock ticks (usually 10 ms) that a process has computed.
pub(crate) fn ticks(pid: u32) -> Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).context("read a process's times")?;
    computed(&stat).context("a process without times")
}

fn computed(stat: &str) -> Option<u64> {
    // The name in parentheses may hold anything; what follows are fields from the third on.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(field(14)? + field(15)?)
}

/// The machine in a line.
pub(crate) fn description() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, model)| model.trim());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{cores} × {model}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_times_of_this_process_are_there() {
        let pid = std::process::id();
        assert!(rss(pid).unwrap() > 0.5);
        ticks(pid).unwrap();
    }

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_confuse() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 100 0 0 0 12 5 0 0 20 0 1 0 100 1000 50";
        assert_eq!(computed(stat), Some(17));
    }

    #[test]
    fn memory_is_told_in_megabytes() {
        let memory = resident("Name:\ta\nVmRSS:\t   10000 kB\n").unwrap();
        assert!((memory - 10.24).abs() < 1e-9, "{memory}");
    }
}
