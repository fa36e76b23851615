//! The network of a team over MPI.

use std::ffi::c_int;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use clinalg::team::{Network, Received, Sent};
use clinalg::{Error, Result};
use clinalg_cli::Processes;
use mpi::Threading;
use mpi::environment::Universe;
use mpi::topology::Communicator;

use crate::identity::{self, Identity};
use crate::peer::{Lost, Peer, was_signalled};
use crate::raw::{Comm, Failed, Request};

/// A wait for another process for so long is an error: it lives, but it or its device hangs. No less, as a process may compile kernels, work on a
/// slower device or write files for minutes.
const PATIENCE: Duration = Duration::from_secs(600);

/// Another number of seconds.
const PATIENCE_VARIABLE: &str = "CLINALG_MPI_TIMEOUT";

/// How long processes have to answer whether they still wait or work with MPI, at the end of such a wait.
const ROLL_CALL: Duration = Duration::from_secs(1);

/// A question for that, and its answer.
const ASKED: &[u8] = b"?";
const ANSWERED: &[u8] = b"!";

/// Between two looks whether all processes of this host live.
const LOOK: Duration = Duration::from_millis(10);

/// How long messages that were begun may take after a failure, and how long processes wait for each other after one.
const GRACE: Duration = Duration::from_secs(10);

/// After a signal, how long it may take until the process shows that has died.
const AFTER_SIGNAL: Duration = Duration::from_millis(300);

/// Most bytes of one message of MPI, whose lengths are `int`.
const MOST: usize = 1 << 30;

/// The identifier of a lost process.
const LOST: &str = "clinalg:team:lost";

/// The processes that an MPI launcher has started, each with one rank; cheap to clone.
///
/// Waits are bounded: where another process ends or fails, they end with an error that names its rank and device, within a second
/// if it is on this host or tells its failure by [`Mpi::end`], else when the launcher sends its signal (see
/// [`signalled`](crate::signalled)). Where another process lives but neither waits nor works with MPI, as where its device hangs, waits end after ten minutes;
/// the environment variable `CLINALG_MPI_TIMEOUT` has another number of seconds.
#[derive(Clone)]
pub struct Mpi {
    inner: Arc<Inner>,
}

struct Inner {
    rank: usize,
    ranks: usize,
    rank_on_host: usize,
    /// Values and collectives; failures that processes tell each other, and their end; roll calls.
    data: Comm,
    notices: Comm,
    calls: Comm,
    peers: OnceLock<Vec<Peer>>,
    /// The devices of all ranks.
    devices: OnceLock<Vec<String>>,
    state: Mutex<State>,
    /// The limit of a wait, if it is set.
    timeout: Option<Duration>,
}

/// Held during each call, so that one call of MPI is made at a time.
struct State {
    /// `None` when MPI has ended.
    universe: Option<Universe>,
    /// The first failure of another process; every later call ends with it.
    lost: Option<Lost>,
    /// Messages are left that MPI may still read or write: it is not called any more.
    abandoned: bool,
    /// The failure is that of a process that does not answer.
    hangs: bool,
}

impl fmt::Debug for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mpi").field("rank", &self.inner.rank).field("ranks", &self.inner.ranks).finish_non_exhaustive()
    }
}

/// A wait for requests.
struct Wait {
    since: Instant,
    looked: Instant,
    tests: u32,
    signalled: Option<Instant>,
    /// The ranks that have answered a roll call.
    answered: Option<Vec<bool>>,
}

impl Wait {
    fn new() -> Wait {
        let now = Instant::now();
        Wait { since: now, looked: now, tests: 0, signalled: None, answered: None }
    }

    /// Lets other work of the machine run: processes may be more than cores.
    fn pause(&mut self) {
        self.tests = self.tests.saturating_add(1);
        match self.tests {
            0..200 => std::hint::spin_loop(),
            200..2000 => std::thread::yield_now(),
            _ => std::thread::sleep(Duration::from_micros(50)),
        }
    }
}

impl Mpi {
    /// Initialises MPI.
    ///
    /// # Errors
    /// [`Error::Value`] where MPI is initialised already or does not take calls from several threads one after the other, and for a timeout that is
    /// not a number of seconds above 0;
    /// [`Error::Process`] for a call that fails.
    pub fn start() -> Result<Mpi> {
        let timeout = std::env::var(PATIENCE_VARIABLE).ok().map(|text| seconds(&text)).transpose()?;
        let Some((universe, threads)) = mpi::initialize_with_threading(Threading::Serialized) else {
            return Err(Error::value("mpi", "not initialised before", "initialised"));
        };
        if threads < Threading::Serialized {
            return Err(Error::value("mpi", "a library with MPI_THREAD_SERIALIZED", format!("{threads:?}")));
        }
        let world = universe.world();
        let inner = Inner {
            rank: world.rank() as usize,
            ranks: world.size() as usize,
            rank_on_host: world.split_shared(world.rank()).rank() as usize,
            data: Comm::of_all().map_err(own)?,
            notices: Comm::of_all().map_err(own)?,
            calls: Comm::of_all().map_err(own)?,
            peers: OnceLock::new(),
            devices: OnceLock::new(),
            state: Mutex::new(State { universe: Some(universe), lost: None, abandoned: false, hangs: false }),
            timeout,
        };
        Ok(Mpi { inner: Arc::new(inner) })
    }

    /// Number of processes.
    pub fn ranks(&self) -> usize {
        self.inner.ranks
    }

    /// Compares version and arguments (the program's name first) of all processes, which make this call first.
    ///
    /// # Errors
    /// [`Error::Rank`] with the first rank that differs from rank 0, the same on all processes; as [`Network::exchange`].
    pub fn agree(&self, version: &str, words: &[String]) -> Result<()> {
        let own = Identity {
            version: version.to_owned(),
            arguments: words.iter().skip(1).cloned().collect(),
            host: mpi::environment::processor_name().unwrap_or_default(),
            pid: std::process::id() as i32,
        };
        let texts = self.gather(&own.to_text())?;
        let all: Option<Vec<Identity>> = texts.iter().map(|text| Identity::from_text(text)).collect();
        let all = all.ok_or_else(|| Error::process(LOST, "a process of another program takes part"))?;
        // Nobody has ended before all have looked whether they see the others.
        let peers = all.iter().map(|identity| Peer::new(identity, &own)).collect();
        self.gather("")?;
        self.inner.peers.get_or_init(|| peers);
        identity::check(&all)
    }

    /// The network of a team in which this process has the device of that name; all processes make the call.
    ///
    /// # Errors
    /// As [`Network::exchange`].
    pub fn connect(&self, device: &str) -> Result<Mpi> {
        if self.inner.peers.get().is_none() {
            self.agree(env!("CARGO_PKG_VERSION"), &[])?;
        }
        let devices = self.gather(device)?;
        self.inner.devices.get_or_init(|| devices);
        Ok(self.clone())
    }

    /// Ends MPI, with identifier and message of the failure of this process, which the others are told. Waits until all
    /// processes have come so far, after a failure ten seconds at most.
    ///
    /// # Errors
    /// As [`Network::exchange`], for another process that is lost before its end.
    pub fn end(&self, failure: Option<(&str, &str)>) -> Result<()> {
        let mut state = self.lock();
        if state.universe.is_none() {
            return Ok(());
        }
        let before = state.lost.is_some();
        let ended = if state.abandoned { Ok(()) } else { self.leave(&mut state, failure) };
        let lost = state.lost.clone().filter(|_| !before && failure.is_none());
        // What is left of messages can keep MPI from its end.
        let universe = state.universe.take();
        match lost.is_some() || before || failure.is_some() {
            true => std::mem::forget(universe),
            false => drop(universe),
        }
        match (ended, lost) {
            (Err(error), _) => Err(error),
            (Ok(()), Some(lost)) => Err(lost.error()),
            (Ok(()), None) => Ok(()),
        }
    }

    /// Tells the others of a failure, takes what they still send, and waits for them.
    fn leave(&self, state: &mut State, failure: Option<(&str, &str)>) -> Result<()> {
        let Inner { rank, ranks, notices, .. } = &*self.inner;
        let told = match (failure, &state.lost) {
            (Some((id, message)), None) => self.failed(*rank, id, message).to_text(),
            _ => String::new(),
        };
        let mut requests = Vec::new();
        for to in (0..*ranks).filter(|to| to != rank && !told.is_empty()) {
            // SAFETY: the text outlives the requests or is leaked with them.
            requests.push(unsafe { notices.send(told.as_ptr(), told.len() as c_int, to) }.map_err(own)?);
        }
        requests.push(notices.barrier().map_err(own)?);
        let mut wait = Wait::new();
        let mut failed = (failure.is_some() || state.lost.is_some()).then(Instant::now);
        loop {
            let complete = complete(&mut requests);
            if complete == Ok(true) {
                return Ok(());
            }
            self.take_what_arrives(state);
            if state.lost.is_none() && failure.is_none() {
                state.lost = self.look(&mut wait, None);
            }
            if state.lost.is_some() && failed.is_none() {
                failed = Some(Instant::now());
            }
            if failed.is_some_and(|since| since.elapsed() > GRACE) || complete.is_err() {
                state.abandoned = true;
                std::mem::forget((told, requests));
                return Ok(());
            }
            wait.pause();
        }
    }

    /// Receives and forgets values for a receive that was given up, and notes failures.
    fn take_what_arrives(&self, state: &mut State) {
        // A failing probe shows in the requests as well.
        while let Ok(Some(_)) = self.inner.data.arrived() {}
        self.answer(None);
        while let Ok(Some((_, bytes))) = self.inner.notices.arrived() {
            let lost = Lost::from_text(&String::from_utf8_lossy(&bytes));
            state.lost = state.lost.take().or(lost);
        }
    }

    /// A process that is known to be lost; `from` are those that are waited for.
    fn look(&self, wait: &mut Wait, from: Option<usize>) -> Option<Lost> {
        if let Ok(Some((_, bytes))) = self.inner.notices.arrived() {
            return Lost::from_text(&String::from_utf8_lossy(&bytes));
        }
        if wait.looked.elapsed() < LOOK {
            return None;
        }
        wait.looked = Instant::now();
        let mut peers = self.inner.peers.get().into_iter().flatten();
        if let Some(rank) = peers.position(Peer::has_ended) {
            return Some(self.failed(rank, LOST, "its process has ended"));
        }
        if was_signalled() && wait.signalled.get_or_insert_with(Instant::now).elapsed() > AFTER_SIGNAL {
            let message = format!("a signal ended the run while rank {} waited for this one", self.inner.rank);
            return Some(self.failed(from.unwrap_or(0), LOST, &message));
        }
        self.answer(wait.answered.as_deref_mut());
        self.hangs(wait, from, self.inner.timeout.unwrap_or(PATIENCE))
    }

    /// A process that does not answer at the end of a long wait: neither waits nor works with MPI. All processes that wait answer, so that none is
    /// taken for another one that it waits for.
    fn hangs(&self, wait: &mut Wait, from: Option<usize>, patience: Duration) -> Option<Lost> {
        let waited = wait.since.elapsed();
        if waited + ROLL_CALL.min(patience / 2) < patience {
            return None;
        }
        let Inner { rank, ranks, .. } = *self.inner;
        let Some(answered) = &wait.answered else {
            (0..ranks).filter(|&to| to != rank).for_each(|to| self.call(ASKED, to));
            wait.answered = Some((0..ranks).map(|other| other == rank).collect());
            return None;
        };
        if waited < patience {
            return None;
        }
        let silent = |&other: &usize| !answered[other];
        let Some(other) = from.filter(silent).or_else(|| (0..ranks).find(silent)) else {
            // All of them wait as this one, or go on at this moment.
            *wait = Wait::new();
            return None;
        };
        let seconds = patience.as_secs_f64();
        let message = format!(
            "this rank has not answered rank {rank} for {seconds} s; its process or device hangs. If it was only busy, set {PATIENCE_VARIABLE} to a larger number of seconds"
        );
        Some(self.failed(other, LOST, &message))
    }

    fn call(&self, text: &'static [u8], to: usize) {
        // SAFETY: the bytes stay as long as the process. A failing send shows as a process that does not answer.
        drop(unsafe { self.inner.calls.send(text.as_ptr(), text.len() as c_int, to) });
    }

    /// Answers roll calls, and notes answers to the own one.
    fn answer(&self, mut answered: Option<&mut [bool]>) {
        while let Ok(Some((from, bytes))) = self.inner.calls.arrived() {
            if bytes == ASKED {
                self.call(ANSWERED, from);
            } else if let Some(answered) = &mut answered {
                answered[from] = true;
            }
        }
    }

    fn failed(&self, rank: usize, id: &str, message: &str) -> Lost {
        let device = self.inner.devices.get().and_then(|devices| devices.get(rank).cloned());
        let host =
            || self.inner.peers.get().and_then(|peers| peers.get(rank)).map(|peer| format!("of host {}", peer.host));
        let device = device.or_else(host).unwrap_or_else(|| "not chosen yet".into());
        Lost { rank, device, id: id.to_owned(), message: message.to_owned() }
    }

    /// The state, unless a failure or the end came before.
    fn begin(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.lock();
        if let Some(lost) = &state.lost {
            return Err(lost.error());
        }
        if state.universe.is_none() || state.abandoned {
            return Err(Error::process(LOST, "MPI has ended in this process"));
        }
        Ok(state)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the requests, of which the rank `from` has one; an error leaves them.
    fn wait(&self, state: &mut State, requests: &mut Vec<Request>, from: Option<usize>) -> Result<()> {
        let mut wait = Wait::new();
        loop {
            let lost = match complete(requests) {
                Ok(true) => return Ok(()),
                Ok(false) if wait.tests.is_multiple_of(16) => self.look(&mut wait, from),
                Ok(false) => None,
                Err(failed) => {
                    // The death of a process may be seen here before it is seen otherwise.
                    std::thread::sleep(2 * LOOK);
                    let message = format!("{} failed with code {}", failed.call, failed.code);
                    Some(self.look(&mut wait, from).unwrap_or_else(|| self.failed(from.unwrap_or(0), LOST, &message)))
                }
            };
            if let Some(lost) = lost {
                let error = lost.error();
                state.hangs = wait.since.elapsed() > self.inner.timeout.unwrap_or(PATIENCE);
                state.lost = Some(lost);
                return Err(error);
            }
            wait.pause();
        }
    }

    /// After a failure: ends the receives and waits for the sends, which the others take as they fail as well. If that takes too
    /// long, MPI is not called any more, so that it cannot reach memory that is used otherwise.
    fn give_up(&self, state: &mut State, receives: &mut Vec<Request>, sends: &mut Vec<Request>) {
        receives.iter_mut().for_each(Request::cancel);
        let (since, mut wait) = (Instant::now(), Wait::new());
        loop {
            match (complete(receives), complete(sends)) {
                (Ok(true), Ok(true)) => return,
                (Ok(_), Ok(_)) if since.elapsed() < self.grace(state) => {}
                _ => break,
            }
            self.take_what_arrives(state);
            wait.pause();
        }
        state.abandoned = true;
        std::mem::forget((std::mem::take(receives), std::mem::take(sends)));
    }

    /// A process that has died or hangs takes no message any more.
    fn grace(&self, state: &State) -> Duration {
        let died = |lost: &Lost| self.inner.peers.get().and_then(|p| p.get(lost.rank)).is_some_and(Peer::has_ended);
        if state.hangs || state.lost.as_ref().is_some_and(died) { 5 * LOOK } else { GRACE }
    }

    fn gather_bytes(&self, own_bytes: &[u8]) -> Result<Vec<u8>> {
        let mut state = self.begin()?;
        if own_bytes.is_empty() {
            // As on all ranks.
            return Ok(Vec::new());
        }
        let len = c_int::try_from(own_bytes.len())
            .map_err(|_| Error::value("values", "less than 2 GiB per rank in a reduction", own_bytes.len()))?;
        // Of this call, so that they can be left to MPI where it fails.
        let (mine, mut all) = (own_bytes.to_vec(), vec![0_u8; own_bytes.len() * self.inner.ranks]);
        // SAFETY: both outlive the request or are leaked with it, and are not touched before.
        let request = unsafe { self.inner.data.all_gather(mine.as_ptr(), len, all.as_mut_ptr()) };
        let mut requests = vec![request.map_err(own)?];
        match self.wait(&mut state, &mut requests, None) {
            Ok(()) => Ok(all),
            Err(error) => {
                std::mem::forget((mine, all, requests));
                Err(error)
            }
        }
    }
}

/// The number of seconds that [`PATIENCE_VARIABLE`] has.
fn seconds(text: &str) -> Result<Duration> {
    let seconds = text.trim().parse().ok().filter(|s: &f64| *s > 0.0).and_then(|s| Duration::try_from_secs_f64(s).ok());
    seconds.ok_or_else(|| Error::value(PATIENCE_VARIABLE, "a number of seconds above 0", text))
}

/// Drops the requests that are complete; whether none is left.
fn complete(requests: &mut Vec<Request>) -> std::result::Result<bool, Failed> {
    let mut k = 0;
    while k < requests.len() {
        if requests[k].is_complete()? {
            requests.swap_remove(k);
        } else {
            k += 1;
        }
    }
    Ok(requests.is_empty())
}

/// A call of this process that failed at its start.
fn own(failed: Failed) -> Error {
    Error::process(LOST, format!("{} failed with code {}", failed.call, failed.code))
}

impl Network for Mpi {
    fn ranks(&self) -> usize {
        self.inner.ranks
    }

    fn local(&self) -> Range<usize> {
        self.inner.rank..self.inner.rank + 1
    }

    fn exchange(&self, sent: &[Sent<'_>], received: &mut [Received<'_>]) -> Result<()> {
        let mut state = self.begin()?;
        let data = &self.inner.data;
        let (mut receives, mut sends) = (Vec::new(), Vec::new());
        let from = received.first().map(|message| message.from).or(sent.first().map(|message| message.to));
        let mut start = || -> std::result::Result<(), Failed> {
            for message in received.iter_mut() {
                for part in message.bytes.chunks_mut(MOST) {
                    // SAFETY: the memory is borrowed for this call, which does not return before the requests are complete, or
                    // MPI is not called any more.
                    receives.push(unsafe { data.receive(part.as_mut_ptr(), part.len() as c_int, message.from)? });
                }
            }
            for message in sent {
                for part in message.bytes.chunks(MOST) {
                    // SAFETY: as above.
                    sends.push(unsafe { data.send(part.as_ptr(), part.len() as c_int, message.to)? });
                }
            }
            Ok(())
        };
        let started = start().map_err(own);
        let done = started
            .and_then(|()| self.wait(&mut state, &mut receives, from))
            .and_then(|()| self.wait(&mut state, &mut sends, from));
        if done.is_err() {
            self.give_up(&mut state, &mut receives, &mut sends);
        }
        done
    }

    fn all_gather(&self, mine: &[f64]) -> Result<Vec<f64>> {
        let bytes: Vec<u8> = mine.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let all = self.gather_bytes(&bytes)?;
        Ok(all.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect())
    }
}

impl Processes for Mpi {
    fn rank(&self) -> usize {
        self.inner.rank
    }

    fn rank_on_host(&self) -> usize {
        self.inner.rank_on_host
    }

    fn agree(&self, version: &str, words: &[String]) -> Result<()> {
        Mpi::agree(self, version, words)
    }

    fn gather(&self, text: &str) -> Result<Vec<String>> {
        let lengths = Network::all_gather(self, &[text.len() as f64])?;
        let most = lengths.iter().copied().fold(0.0, f64::max) as usize;
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(most, 0);
        let all = self.gather_bytes(&bytes)?;
        let text = |(rank, length): (usize, &f64)| {
            let start = rank * most;
            String::from_utf8_lossy(&all[start..start + *length as usize]).into_owned()
        };
        Ok(lengths.iter().enumerate().map(text).collect())
    }

    fn network(&self, device: &str) -> Result<Box<dyn Network>> {
        Ok(Box::new(self.connect(device)?))
    }
}
