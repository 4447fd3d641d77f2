//! What every package's manifest must say.

use super::file::{File, Finding};

const LICENCE: &str = "Apache-2.0";

pub(super) fn incomplete(file: &File) -> Vec<Finding> {
    if file.name() != "Cargo.toml" {
        return Vec::new();
    }
    let text = file.text();
    let has = |section: &str, line: &str| section_of(&text, section).any(|found| found == line);
    let mut findings = Vec::new();
    let mut demand = |met: bool, message: &str| {
        if !met {
            findings.push(file.finding(1, message));
        }
    };
    let licence = format!("license = \"{LICENCE}\"");
    if text.contains("[workspace.package]") {
        demand(has("[workspace.package]", &licence), "the workspace's licence is not Apache-2.0");
    }
    if text.contains("[package]") {
        demand(has("[package]", "license.workspace = true") || has("[package]", &licence), "no licence");
        demand(has("[lints]", "workspace = true"), "does not inherit the workspace's lints");
    }
    // A panic in a driver's handler must end one call, not the process (C46).
    demand(!text.lines().any(|line| line.replace(' ', "").starts_with("panic=\"abort\"")), "panics abort");
    findings
}

/// The lines of a section, up to the next one.
fn section_of<'a>(text: &'a str, section: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = text.lines().skip_while(move |line| *line != section).skip(1);
    lines.take_while(|line| !line.starts_with('['))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = \"a\"\nlicense.workspace = true\n\n[lints]\nworkspace = true\n";

    fn findings(text: &str) -> usize {
        incomplete(&File::new("a/Cargo.toml", text)).len()
    }

    #[test]
    fn a_good_manifest_passes() {
        assert_eq!(findings(GOOD), 0);
    }

    #[test]
    fn a_missing_licence_is_found() {
        assert_eq!(findings(&GOOD.replace("license.workspace = true\n", "")), 1);
        assert_eq!(findings("[workspace.package]\nlicense = \"MIT\"\n"), 1);
    }

    #[test]
    fn a_package_with_its_own_lints_is_found() {
        assert_eq!(findings(&GOOD.replace("[lints]\nworkspace = true", "[lints.rust]")), 1);
        assert_eq!(findings(&GOOD.replace("[lints]", "[other]")), 1);
    }

    #[test]
    fn a_profile_that_aborts_is_found() {
        assert_eq!(findings("[profile.release]\npanic = \"abort\"\n"), 1);
    }
}
