//! Carries out what the election asks for.

use cosi_lifecycle::lease::{
    Effect, Election, End, Event, Loss, Moment, Stamp, Standing, Term, Terms, Unreadable, Write, Written,
};
use cosi_lifecycle::{Impossible, Time};
use kube::Client;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::news::{News, Told};
use super::store::{Store, Trouble};
use super::{Place, Tenure, identity};
use crate::environment::Env;

/// One process's part in the election of a driver's leader.
pub struct Elector {
    election: Election,
    store: Store,
    news: News,
    tenure: Tenure,
    env: Env,
    place: Place,
    /// Cancelled when the Lease is to be given back.
    resign: CancellationToken,
    resigning: bool,
    /// Whom the log named last.
    named: Option<Box<str>>,
    leads: bool,
    /// What the log complained about last.
    trouble: Option<String>,
}

impl Elector {
    /// An elector of the Lease at `place`, which tells `tenure` how things stand. `client` must not hold requests back.
    /// Once `resign` is cancelled it gives the Lease back and ends.
    #[must_use]
    pub fn new(
        env: Env,
        client: Client,
        place: Place,
        terms: Terms,
        tenure: Tenure,
        resign: CancellationToken,
    ) -> Self {
        let identity = identity::fresh(&*env);
        tracing::info!(lease = %place, %identity, "standing for election");
        Self {
            election: Election::new(&identity, terms),
            store: Store::new(client, place.clone()),
            news: News::new(terms.retry()),
            tenure,
            env,
            place,
            resign,
            resigning: false,
            named: None,
            leads: false,
            trouble: None,
        }
    }

    /// Takes the Lease, keeps it, and gives it back when told to. Returns how it ended; from then on, and somewhat before,
    /// the tenure lets nobody act.
    ///
    /// # Errors
    ///
    /// [`Impossible`] is a defect.
    pub async fn run(mut self) -> Result<End, Impossible> {
        let mut event = Event::Start;
        loop {
            let effect = self.election.step(event, self.moment());
            let effect = effect.inspect_err(|_| self.tenure.close())?;
            if !self.announce() {
                return Ok(End::Lost(Loss::NotRenewed));
            }
            event = match effect {
                Effect::Read { by } => self.read(by).await,
                Effect::Write { write, by } => Event::Wrote(self.write(write, by).await),
                Effect::Wait(until) => self.wait(until).await,
                Effect::End(end) => {
                    self.tell_end(&end);
                    return Ok(end);
                }
            };
        }
    }

    /// Tells the tenure and, if it is news, the log. False if the tenure has ended meanwhile.
    fn announce(&mut self) -> bool {
        match self.election.standing() {
            Standing::Candidate { holder } => {
                if let Some(holder) = holder.filter(|holder| self.named.as_deref() != Some(holder)) {
                    tracing::info!(lease = %self.place, holder, "standing by: another process leads");
                    self.named = Some(holder.into());
                }
                true
            }
            Standing::Leading(term) => self.lead(term),
            Standing::Over => {
                self.tenure.close();
                true
            }
        }
    }

    fn lead(&mut self, term: Term) -> bool {
        let in_time = self.tenure.lead(term);
        if !self.leads && in_time {
            self.leads = true;
            tracing::info!(lease = %self.place, "leading: the Lease is taken");
        }
        in_time
    }

    fn tell_end(&self, end: &End) {
        match end {
            End::Released => tracing::info!(lease = %self.place, "the Lease is given back"),
            End::NotReleased => {
                tracing::warn!(lease = %self.place, "the Lease could not be given back; the next one waits for its end");
            }
            End::Lost(loss) => {
                tracing::error!(lease = %self.place, "the Lease is lost: {loss}; nothing new is begun");
            }
            End::Withdrawn => {}
        }
    }

    async fn read(&mut self, by: Time) -> Event {
        let result = tokio::select! {
            biased;
            () = self.resign.cancelled(), if !self.resigning => {
                self.resigning = true;
                return Event::Stop;
            }
            result = timeout(self.env.now().until(by), self.store.read()) => result,
        };
        match self.heard(result.unwrap_or_else(|_| Err(self.silence()))) {
            Some(found) => {
                if let Some(found) = &found {
                    self.news.know(&found.version);
                }
                Event::Read(Ok(found))
            }
            None => Event::Read(Err(Unreadable)),
        }
    }

    async fn write(&mut self, write: Write, by: Time) -> Written {
        let result = timeout(self.env.now().until(by), self.store.write(write)).await;
        let written = self.heard(result.unwrap_or_else(|_| Err(self.silence())));
        if let Some(Written::Done(found)) = &written {
            self.news.know(&found.version);
        }
        written.unwrap_or(Written::Unknown)
    }

    async fn wait(&mut self, until: Time) -> Event {
        tokio::select! {
            biased;
            () = self.resign.cancelled(), if !self.resigning => {
                self.resigning = true;
                Event::Stop
            }
            () = sleep(self.env.now().until(until)) => Event::Timer,
            told = self.news.next(&self.store) => match told {
                Told::Changed(found) => Event::Seen(found),
                Told::Nothing => Event::Timer,
            },
        }
    }

    /// The answer, if there is one. What went wrong is told once per change.
    fn heard<T>(&mut self, result: Result<T, Trouble>) -> Option<T> {
        match result {
            Ok(answer) => {
                if self.trouble.take().is_some() {
                    tracing::info!(lease = %self.place, "the leader's Lease can be reached again");
                }
                Some(answer)
            }
            Err(Trouble(text)) => {
                if self.trouble.as_ref() != Some(&text) {
                    tracing::warn!("{text}");
                    self.trouble = Some(text);
                }
                None
            }
        }
    }

    fn silence(&self) -> Trouble {
        Trouble(format!(
            "the API server does not answer about the leader's Lease {}; trying again",
            self.place
        ))
    }

    fn moment(&self) -> Moment {
        Moment { now: self.env.now(), wall: Stamp::of_micros(self.env.wall().as_microsecond()) }
    }
}
