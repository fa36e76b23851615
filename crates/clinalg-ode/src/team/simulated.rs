//! A simulated network between ranks of one process, with given latency and bandwidth.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clinalg::shown;
use clinalg::team::{Link, Network, Received, Sent};

use crate::{Error, Result};

/// A longer wait for a message is an error: the other rank has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits shorter than this yield the thread in a loop instead of sleeping.
const SHORT: Duration = Duration::from_micros(200);

/// What a rank has sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Number of exchanges with neighbours in which the rank took part.
    pub exchanges: usize,
    /// Bytes sent in these exchanges.
    pub bytes: usize,
    /// Number of exchanges between all ranks.
    pub gathers: usize,
}

/// Runs `work` once per rank, each in its own thread, and returns its results, each with the traffic of its rank. `ranks` must be a power of two.
/// `work` makes a [`Team`](clinalg::team::Team) of one context from its network. A program written for several processes thus runs in a single one,
/// with the timing of any network.
///
/// # Errors
/// [`Error::Value`] for a number of ranks that is not a power of two, a negative latency or a bandwidth that is not positive; the first error of
/// `work`.
pub fn simulate<R: Send>(
    ranks: usize,
    link: Link,
    work: impl Fn(Box<dyn Network>) -> Result<R> + Sync,
) -> Result<Vec<(R, Traffic)>> {
    if !ranks.is_power_of_two() {
        return Err(Error::value("ranks", "a power of two", ranks));
    }
    if !(link.latency >= 0.0 && link.latency.is_finite() && link.bandwidth > 0.0) {
        return Err(Error::value(
            "link",
            "a latency of at least 0 and a bandwidth above 0",
            format!("{} s and {} bytes per second", shown(link.latency), shown(link.bandwidth)),
        ));
    }
    let mail = Arc::new(Mail::default());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..ranks)
            .map(|rank| {
                let state = Arc::new(Mutex::new(State { free: Instant::now(), traffic: Traffic::default() }));
                let network = Simulated { rank, ranks, link, mail: mail.clone(), state: state.clone() };
                let work = &work;
                scope.spawn(move || {
                    let done = work(Box::new(network))?;
                    let traffic = state.lock().unwrap_or_else(PoisonError::into_inner).traffic;
                    Ok::<_, Error>((done, traffic))
                })
            })
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|e| std::panic::resume_unwind(e)));
        // Join all threads before the first error is returned.
        joined.collect::<Vec<Result<_>>>().into_iter().collect()
    })
}

/// The time at which a message arrives, and its bytes.
type Letter = (Instant, Vec<u8>);

/// Messages that have been sent from one rank to another and not yet received.
#[derive(Default)]
struct Mail {
    letters: Mutex<HashMap<(usize, usize), VecDeque<Letter>>>,
    posted: Condvar,
}

impl Mail {
    fn post(&self, from: usize, to: usize, letter: Letter) {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        letters.entry((from, to)).or_default().push_back(letter);
        self.posted.notify_all();
    }

    /// Waits for the next message.
    fn fetch(&self, from: usize, to: usize) -> clinalg::Result<Vec<u8>> {
        let begun = Instant::now();
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        let (arrives, bytes) = loop {
            if let Some(letter) = letters.get_mut(&(from, to)).and_then(VecDeque::pop_front) {
                break letter;
            }
            if begun.elapsed() > PATIENCE {
                let message = format!("rank {to} has waited {} s for rank {from}", PATIENCE.as_secs());
                return Err(clinalg::Error::process("clinalg:team:lost", message));
            }
            let waited = self.posted.wait_timeout(letters, PATIENCE);
            letters = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        drop(letters);
        loop {
            let left = arrives.saturating_duration_since(Instant::now());
            match left {
                Duration::ZERO => return Ok(bytes),
                left if left > SHORT => std::thread::sleep(left - SHORT),
                _ => std::thread::yield_now(),
            }
        }
    }
}

/// State of one rank.
struct State {
    /// The time from which it can send the next byte.
    free: Instant,
    traffic: Traffic,
}

struct Simulated {
    rank: usize,
    ranks: usize,
    link: Link,
    mail: Arc<Mail>,
    state: Arc<Mutex<State>>,
}

impl Simulated {
    fn send(&self, to: usize, bytes: Vec<u8>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let sending = Duration::from_secs_f64(bytes.len() as f64 / self.link.bandwidth);
        state.free = state.free.max(Instant::now()) + sending;
        let arrives = state.free + Duration::from_secs_f64(self.link.latency);
        self.mail.post(self.rank, to, (arrives, bytes));
    }

    fn count(&self, add: impl FnOnce(&mut Traffic)) {
        add(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).traffic);
    }
}

impl Network for Simulated {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn local(&self) -> Range<usize> {
        self.rank..self.rank + 1
    }

    fn exchange(&self, sent: &[Sent<'_>], received: &mut [Received<'_>]) -> clinalg::Result<()> {
        for message in sent {
            self.send(message.to, message.bytes.to_vec());
        }
        self.count(|traffic| {
            traffic.exchanges += 1;
            traffic.bytes += sent.iter().map(|message| message.bytes.len()).sum::<usize>();
        });
        for message in received {
            message.bytes.copy_from_slice(&self.mail.fetch(message.from, self.rank)?);
        }
        Ok(())
    }

    /// Recursive doubling: each of the log2(p) exchanges doubles the number of ranks whose values are known.
    fn all_gather(&self, mine: &[f64]) -> clinalg::Result<Vec<f64>> {
        let (count, mut all) = (mine.len(), vec![0.0; mine.len() * self.ranks]);
        all[self.rank * count..(self.rank + 1) * count].copy_from_slice(mine);
        let mut known = 1;
        while known < self.ranks {
            let partner = self.rank ^ known;
            let group = |rank: usize| rank / known * known * count..(rank / known + 1) * known * count;
            self.send(partner, all[group(self.rank)].iter().flat_map(|value| value.to_ne_bytes()).collect());
            let bytes = self.mail.fetch(partner, self.rank)?;
            let values = bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
            all[group(partner)].iter_mut().zip(values).for_each(|(place, value)| *place = value);
            known *= 2;
        }
        self.count(|traffic| traffic.gathers += 1);
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_take_latency_and_bandwidth() {
        let link = Link { latency: 0.02, bandwidth: 1e5 };
        // Of all ranks: a message may be under way before the thread of its receiver starts.
        let begun = Instant::now();
        let done = simulate(4, link, |network| {
            let rank = network.local().start;
            let gathered = network.all_gather(&[rank as f64, 0.5])?;
            // Two exchanges, each of which takes at least the latency.
            assert!(begun.elapsed() >= Duration::from_millis(40));
            let (right, left) = ((rank + 1) % 4, (rank + 3) % 4);
            let (own, mut got) = (vec![rank as u8; 1000], vec![0; 1000]);
            let sent = Sent { from: rank, to: right, bytes: &own };
            network.exchange(&[sent], &mut [Received { from: left, to: rank, bytes: &mut got }])?;
            // After the gather of its sender: the latency, plus 10 ms for 1000 bytes.
            assert!(begun.elapsed() >= Duration::from_millis(70));
            assert_eq!(got, vec![left as u8; 1000]);
            Ok(gathered)
        });
        for (gathered, traffic) in done.unwrap() {
            assert_eq!(gathered, [0.0, 0.5, 1.0, 0.5, 2.0, 0.5, 3.0, 0.5]);
            assert_eq!(traffic, Traffic { exchanges: 1, bytes: 1000, gathers: 1 });
        }
        let none = |_: Box<dyn Network>| Ok(());
        assert!(simulate(3, link, none).is_err());
        assert!(simulate(2, Link { latency: f64::NAN, ..link }, none).is_err());
    }
}
