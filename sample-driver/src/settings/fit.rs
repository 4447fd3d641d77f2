//! Flags that mean something for one backend only.

use super::{Backend, S3_LISTEN, Settings};

/// A flag was given that the chosen backend would ignore.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{flag} is for --backend {}, and the backend is {}", name(*.of), name(*.chosen))]
pub struct Misuse {
    flag: &'static str,
    of: Backend,
    chosen: Backend,
}

impl Settings {
    /// Refuses what would be ignored: whoever gives a flag counts on it.
    ///
    /// # Errors
    /// [`Misuse`] that names the first such flag.
    pub fn check(&self) -> Result<(), Misuse> {
        let given = [
            ("--s3-listen", Backend::Embedded, self.s3_listen.to_string() != S3_LISTEN),
            ("--id-prefix", Backend::Embedded, self.id_prefix != crate::store::IdPrefix::default()),
            ("--credentials-file", Backend::Embedded, self.credentials_file.is_some()),
            ("--iam-endpoint", Backend::S3, self.iam_endpoint.is_some()),
            ("--s3-path-style", Backend::S3, self.s3_path_style),
            ("--ledger", Backend::S3, self.ledger.is_some()),
        ];
        let misused = given.into_iter().find(|(_, of, given)| *given && *of != self.backend);
        misused.map_or(Ok(()), |(flag, of, _)| Err(Misuse { flag, of, chosen: self.backend }))
    }
}

fn name(backend: Backend) -> &'static str {
    match backend {
        Backend::Embedded => "embedded",
        Backend::S3 => "s3",
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use rstest::rstest;

    use super::*;

    fn check(flags: &[&str]) -> Result<(), Misuse> {
        Settings::try_parse_from([&["cosi-sample-driver"], flags].concat()).unwrap().check()
    }

    #[rstest]
    #[case(&["--backend", "s3", "--s3-listen", "127.0.0.1:1"], "--s3-listen is for --backend embedded, and the backend is s3")]
    #[case(&["--backend", "s3", "--id-prefix", "a"], "--id-prefix is for")]
    #[case(&["--backend", "s3", "--credentials-file", "f"], "--credentials-file is for")]
    #[case(&["--iam-endpoint", "http://iam"], "--iam-endpoint is for --backend s3, and the backend is embedded")]
    #[case(&["--s3-path-style"], "--s3-path-style is for")]
    #[case(&["--ledger", "f"], "--ledger is for")]
    fn a_flag_that_the_backend_would_ignore_is_refused_in_a_sentence(
        #[case] flags: &[&str],
        #[case] words: &str,
    ) {
        let misuse = check(flags).unwrap_err().to_string();
        assert!(misuse.starts_with(words), "{misuse}");
    }

    #[test]
    fn each_backend_takes_its_own_flags_and_those_of_both() {
        let both = ["--data-dir", "d", "--s3-endpoint", "http://s3", "--s3-region", "lab-1"];
        let embedded = ["--s3-listen", "127.0.0.1:1", "--id-prefix", "a", "--credentials-file", "f"];
        let s3 = ["--backend", "s3", "--iam-endpoint", "http://iam", "--s3-path-style", "--ledger", "f"];
        assert_eq!(check(&[both.as_slice(), &embedded].concat()), Ok(()));
        assert_eq!(check(&[both.as_slice(), &s3].concat()), Ok(()));
    }
}
