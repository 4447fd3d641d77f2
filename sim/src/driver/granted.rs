//! What a test asks and does about accounts.

use super::accounts::Account;
use super::{ScriptedDriver, Violation};
use crate::lock;
use crate::rule::{TimedOut, wait_until};

#[allow(clippy::must_use_candidate, reason = "some are called for their effect, too")]
impl ScriptedDriver {
    /// The accounts that are really there.
    #[must_use]
    pub fn accounts(&self) -> Vec<Account> {
        lock(&self.core.backend).accounts.clone()
    }

    /// The account that was made for the name.
    #[must_use]
    pub fn account(&self, name: &str) -> Option<Account> {
        lock(&self.core.backend).account_named(name)
    }

    /// Whether some account has this key and it works.
    #[must_use]
    pub fn key_works(&self, id: &str, secret: &str) -> bool {
        self.accounts().iter().any(|account| account.keys.iter().any(|(i, s)| i == id && s == secret))
    }

    /// Whether this secret or token opens anything.
    #[must_use]
    pub fn secret_works(&self, secret: &str) -> bool {
        self.accounts().iter().any(|account| account.keys.iter().any(|(_, s)| s == secret))
    }

    /// Every credential that was ever in an answer, lost answers too. Each has [`CANARY`](super::CANARY) in it, unless a
    /// test put it there.
    #[must_use]
    pub fn handed_out(&self) -> Vec<String> {
        lock(&self.core.backend).handed_out.iter().cloned().collect()
    }

    /// Takes an account away behind everybody's back. Says whether it was there.
    pub fn lose_account(&self, id: &str) -> bool {
        let there = lock(&self.core.backend).lose_account(id);
        self.core.ledger.note(format!("account {id} was taken away by hand"));
        there
    }

    /// Waits until exactly these names have an account.
    ///
    /// # Errors
    /// [`TimedOut`], with the ledger in its text.
    pub async fn wait_grants(&self, names: &[&str]) -> Result<(), TimedOut> {
        let what =
            || format!("accounts for exactly {names:?}; there are {:?}\n{}", self.granted(), self.ledger());
        wait_until(&self.core.ledger.changes, || self.grants(names), what).await
    }

    /// I1: exactly these names have an account.
    ///
    /// # Errors
    /// A [`Violation`].
    pub fn grants_exactly(&self, names: &[&str]) -> Result<(), Violation> {
        let violation = || Violation::orphaned_account(&self.granted(), names, self.ledger());
        if self.grants(names) { Ok(()) } else { Err(violation()) }
    }

    fn grants(&self, names: &[&str]) -> bool {
        let mut wanted = names.to_vec();
        wanted.sort_unstable();
        self.granted() == wanted
    }

    /// The names that have an account, sorted.
    fn granted(&self) -> Vec<String> {
        let mut names: Vec<String> = self.accounts().into_iter().map(|account| account.name).collect();
        names.sort_unstable();
        names
    }
}
