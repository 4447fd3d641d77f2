//! COSI keeps environment variables that begin with `COSI_` for itself and defines one of them.

use super::file::{File, Finding};

const PREFIX: &str = "COSI_";
const DEFINED: &str = "COSI_ENDPOINT";
/// How Rust code, shell scripts and manifests come to the name of a variable.
const READS: [&str; 5] = ["env = \"", "var(\"", "var_os(\"", ".env(\"", "export "];

pub(super) fn reserved_prefix(file: &File) -> Vec<Finding> {
    if file.is("md") {
        return Vec::new();
    }
    file.lines()
        .filter_map(|(number, line)| Some((number, READS.iter().find_map(|read| reserved(line, read))?)))
        .map(|(number, name)| file.finding(number, format!("{name}: only {DEFINED} may begin with {PREFIX}")))
        .collect()
}

/// The name that follows `read` in the line, if it is reserved and not defined by COSI.
fn reserved<'a>(line: &'a str, read: &str) -> Option<&'a str> {
    let rest = line.split(read).nth(1)?;
    let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
    (name.starts_with(PREFIX) && name != DEFINED).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(line: &str) -> usize {
        reserved_prefix(&File::new("a/src/b.rs", line)).len()
    }

    #[test]
    fn a_setting_of_ours_with_the_prefix_is_found() {
        for read in READS {
            assert_eq!(findings(&format!("    {read}{PREFIX}TIMEOUT\"")), 1, "{read}");
        }
    }

    #[test]
    fn the_endpoint_and_other_names_are_fine() {
        for read in READS {
            assert_eq!(findings(&format!("{read}{DEFINED}\"")), 0, "{read}");
            assert_eq!(findings(&format!("{read}SIDECAR_TIMEOUT\"")), 0, "{read}");
        }
    }

    #[test]
    fn keys_of_secrets_are_no_settings() {
        assert_eq!(findings("pub const PROTOCOL: &str = \"COSI_PROTOCOL\";"), 0);
    }
}
