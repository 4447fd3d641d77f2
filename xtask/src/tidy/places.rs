//! Paths and registries of the machine that somebody happened to work on.

use super::file::{File, Finding};

const FOLDERS: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];
const REGISTRIES: [&str; 3] = [concat!("GO", "PROXY="), concat!("[sou", "rce."), concat!("[regis", "tries")];
const CRATES_IO: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

pub(super) fn named(file: &File) -> Vec<Finding> {
    let wrong = |line: &str| {
        if file.name() == "Cargo.lock" {
            return line.starts_with("source = ") && line != CRATES_IO;
        }
        FOLDERS.iter().any(|folder| has_path(line, folder))
            || REGISTRIES.iter().any(|word| line.contains(word))
    };
    file.lines()
        .filter(|(_, line)| wrong(line))
        .map(|(number, _)| file.finding(number, "names a folder or a registry of some machine"))
        .collect()
}

/// Whether `folder` begins a path in the line, rather than going on one (or a URL).
fn has_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        !before.ends_with(|c: char| c.is_alphanumeric() || "_-./}".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        named(&File::new(path, text)).len()
    }

    #[test]
    fn folders_of_a_person_or_a_session_are_found() {
        for folder in FOLDERS {
            assert_eq!(findings("a/b.md", &format!("see {folder}x")), 1, "{folder}");
            assert_eq!(findings("a/b.rs", &format!("open(\"{folder}x\")")), 1, "{folder}");
        }
    }

    #[test]
    fn a_folder_inside_a_path_or_url_is_fine() {
        for folder in FOLDERS {
            assert_eq!(
                findings("a/b.md", &format!("https://example.org{folder}x and ./a{folder}x")),
                0,
                "{folder}"
            );
        }
    }

    #[test]
    fn a_lock_file_knows_no_registry_but_crates_io() {
        assert_eq!(findings("Cargo.lock", CRATES_IO), 0);
        assert_eq!(findings("Cargo.lock", "source = \"registry+https://mirror.example/index\""), 1);
    }

    #[test]
    fn a_configured_registry_is_found() {
        for word in REGISTRIES {
            assert_eq!(findings(".cargo/config.toml", &format!("{word}x")), 1, "{word}");
        }
    }
}
