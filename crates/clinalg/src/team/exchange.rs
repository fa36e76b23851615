//! Values that travel between ranks, through pinned host memory.

use std::ops::Range;

use super::{Partition, Received, Sent, Team};
use crate::error::check_length;
use crate::runtime::{Staging, Transfer, View, ViewMut};
use crate::{Buffer, Element, Error, Result};

/// `len` values that go from one rank's source, from value `source` on, to another one's target, from value `target` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The rank whose values they are.
    pub from: usize,
    /// Where they begin there.
    pub source: usize,
    /// The rank that gets them.
    pub to: usize,
    /// Where they go there.
    pub target: usize,
    /// How many there are.
    pub len: usize,
}

impl Message {
    /// The messages that fill the halos of strips: rank `r` stores the rows `stored[r]` of `width` values each, of which it owns
    /// those of `partition`, and gets the others from their owners.
    ///
    /// # Errors
    /// [`Error::Length`] unless each rank has stored rows; [`Error::Value`] where a rank does not store what it owns, or stores
    /// rows that do not exist.
    pub fn halos(partition: &Partition, stored: &[Range<usize>], width: usize) -> Result<Vec<Message>> {
        check_length("stored", partition.ranks(), stored.len())?;
        let mut messages = Vec::new();
        for (to, rows) in stored.iter().enumerate() {
            let own = partition.range(to);
            if rows.start > own.start || rows.end < own.end || rows.end > partition.rows() {
                let expected = format!("the rows {own:?} that rank {to} owns, and rows below {}", partition.rows());
                return Err(Error::value("stored", expected, format!("{rows:?}")));
            }
            for wanted in [rows.start..own.start, own.end..rows.end] {
                let mut row = wanted.start;
                while row < wanted.end {
                    let from = partition.owner(row);
                    let end = wanted.end.min(partition.range(from).end);
                    messages.push(Message {
                        from,
                        source: (row - stored[from].start) * width,
                        to,
                        target: (row - rows.start) * width,
                        len: (end - row) * width,
                    });
                    row = end;
                }
            }
        }
        Ok(messages)
    }

    /// The messages that bring the rows that each rank owns to rank `root`, which stores all of them.
    ///
    /// # Errors
    /// [`Error::Length`] unless each rank has stored rows; [`Error::Value`] for a root that is no rank.
    pub fn gather(partition: &Partition, stored: &[Range<usize>], width: usize, root: usize) -> Result<Vec<Message>> {
        check_length("stored", partition.ranks(), stored.len())?;
        if root >= partition.ranks() {
            return Err(Error::value("root", format!("a rank below {}", partition.ranks()), root));
        }
        let message = |from: usize| {
            let own = partition.range(from);
            let source = (own.start - stored[from].start) * width;
            Message { from, source, to: root, target: own.start * width, len: own.len() * width }
        };
        Ok((0..partition.ranks()).map(message).collect())
    }

    /// The messages that bring to each rank the rows that it stores, from rank `root`, which stores all of them.
    ///
    /// # Errors
    /// [`Error::Value`] for a root that is no rank.
    pub fn scatter(stored: &[Range<usize>], width: usize, root: usize) -> Result<Vec<Message>> {
        if root >= stored.len() {
            return Err(Error::value("root", format!("a rank below {}", stored.len()), root));
        }
        let message = |(to, rows): (usize, &Range<usize>)| Message {
            from: root,
            source: rows.start * width,
            to,
            target: 0,
            len: rows.len() * width,
        };
        Ok(stored.iter().enumerate().map(message).collect())
    }
}

/// A pattern of messages with the pinned memory for it, used again and again.
///
/// [`begin`](Exchange::begin) starts to read what is sent; the host does not wait, and kernels that are enqueued after it run
/// meanwhile. [`finish`](Exchange::finish) waits for the reads and writes to the targets. The next exchange waits for this one.
///
/// ```
/// use clinalg::team::{Exchange, Message, Partition, Team};
/// use clinalg::{Buffer, Context, ContextOptions, Device};
///
/// let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
/// let team = Team::of_contexts(vec![context()?, context()?])?;
/// // Six rows of one value, three each, and one row more on either side.
/// let messages = Message::halos(&Partition::even(6, 2)?, &[0..4, 2..6], 1)?;
/// let mut exchange = Exchange::new(&team, &messages)?;
/// let mut parts = [
///     Buffer::from_slice(&team.contexts()[0], &[0.0, 1.0, 2.0, -1.0])?,
///     Buffer::from_slice(&team.contexts()[1], &[-1.0, 3.0, 4.0, 5.0])?,
/// ];
/// exchange.run(&mut parts)?;
/// assert_eq!(parts[0].to_vec()?, [0.0, 1.0, 2.0, 3.0]);
/// assert_eq!(parts[1].to_vec()?, [2.0, 3.0, 4.0, 5.0]);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Exchange<T: Element> {
    team: Team,
    routes: Vec<Route<T>>,
}

/// A message that begins or ends in this process.
#[derive(Debug)]
struct Route<T: Element> {
    message: Message,
    path: Path<T>,
}

/// Where the values of a message are on their way.
#[derive(Debug)]
enum Path<T: Element> {
    /// From a rank to itself: on the device.
    Device(Buffer<T>),
    /// Between two ranks of this process: in pinned memory of the first, from which the second one's device reads.
    Host(Staging<T>),
    /// To a rank of another process.
    Out(Staging<T>),
    /// From a rank of another process.
    In(Staging<T>),
}

impl<T: Element> Exchange<T> {
    /// An exchange of these messages between the ranks of `team`; those between ranks of other processes are left out.
    ///
    /// # Errors
    /// [`Error::Index`] for a message of a rank that does not exist; as [`Error::Rank`], [`Error::Allocation`].
    pub fn new(team: &Team, messages: &[Message]) -> Result<Exchange<T>> {
        let local = team.local();
        let context = |rank: usize| &team.contexts()[rank - local.start];
        let mut routes = Vec::new();
        for (position, &message) in messages.iter().enumerate() {
            let Message { from, to, len, .. } = message;
            let rank = from.max(to);
            if rank >= team.ranks() {
                let expected = format!("a rank below {}", team.ranks());
                return Err(Error::Index { argument: "messages", position, index: rank as u64, expected });
            }
            let path = match (local.contains(&from), local.contains(&to)) {
                _ if len == 0 => continue,
                (true, true) if from == to => {
                    let kept = Buffer::uninit(context(from), len);
                    Path::Device(kept.map_err(|error| team.at(from - local.start, error))?)
                }
                (true, true) => Path::Host(Staging::new(context(from))),
                (true, false) => Path::Out(Staging::new(context(from))),
                (false, true) => Path::In(Staging::new(context(to))),
                (false, false) => continue,
            };
            routes.push(Route { message, path });
        }
        Ok(Exchange { team: team.clone(), routes })
    }

    /// Values that this process sends in an exchange.
    pub fn len(&self) -> usize {
        self.routes.iter().filter(|route| !matches!(route.path, Path::In(_))).map(|route| route.message.len).sum()
    }

    /// Whether this process sends nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts to read what is sent from `sources`, one for each rank of this process, after what is enqueued there so far. The
    /// transfers keep the sources borrowed; drop them before [`Exchange::finish`].
    ///
    /// # Errors
    /// [`Error::Length`] for another number of sources; [`Error::Value`] for one that is too short; as [`Error::Rank`], those
    /// of the transfers.
    pub fn begin<'a>(&mut self, sources: &[View<'a, T>]) -> Result<Vec<Transfer<'a>>> {
        let mut transfers = Vec::with_capacity(self.routes.len());
        self.start(sources, |values, staging| values.read_async(staging).map(|transfer| transfers.push(transfer)))?;
        Ok(transfers)
    }

    /// [`Exchange::begin`] where nothing runs meanwhile: kernels that are enqueued later wait for the reads.
    ///
    /// # Errors
    /// As [`Exchange::begin`].
    pub fn read(&mut self, sources: &[View<'_, T>]) -> Result<()> {
        self.start(sources, |values, staging| values.read_in_order(staging))
    }

    fn start<'a>(
        &mut self,
        sources: &[View<'a, T>],
        mut read: impl FnMut(View<'a, T>, &mut Staging<T>) -> Result<()>,
    ) -> Result<()> {
        let Exchange { team, routes } = self;
        check_length("sources", team.contexts().len(), sources.len())?;
        let first = team.local().start;
        for Route { message: Message { from, source, len, .. }, path } in routes {
            if let Path::In(_) = path {
                continue;
            }
            let k = *from - first;
            let mut leave = || {
                let values = sources[k].slice(*source..*source + *len)?;
                match path {
                    Path::Device(kept) => kept.copy_from(values),
                    Path::Host(staging) | Path::Out(staging) | Path::In(staging) => read(values, staging),
                }
            };
            leave().map_err(|error| team.at(k, error))?;
        }
        Ok(())
    }

    /// Waits for what [`Exchange::begin`] has read and writes it to `targets`, one for each rank of this process. Kernels that
    /// are enqueued there afterwards see it.
    ///
    /// # Errors
    /// As [`Exchange::begin`], and those of the network.
    pub fn finish(&mut self, targets: &mut [ViewMut<'_, T>]) -> Result<()> {
        let Exchange { team, routes } = self;
        check_length("targets", team.contexts().len(), targets.len())?;
        let first = team.local().start;
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for Route { message: Message { from, to, len, .. }, path } in &mut *routes {
            match path {
                Path::Device(_) | Path::Host(_) => {}
                Path::Out(staging) => {
                    let bytes = staging.bytes().map_err(|error| team.at(*from - first, error))?;
                    sent.push(Sent { from: *from, to: *to, bytes });
                }
                Path::In(staging) => {
                    let bytes = staging.bytes_mut(*len).map_err(|error| team.at(*to - first, error))?;
                    received.push(Received { from: *from, to: *to, bytes });
                }
            }
        }
        if !sent.is_empty() || !received.is_empty() {
            team.network().exchange(&sent, &mut received)?;
        }
        for Route { message: Message { from, to, target, len, .. }, path } in routes {
            let k = match path {
                Path::Out(_) => continue,
                _ => *to - first,
            };
            if let Path::Host(staging) = path {
                // A failing read is the sender's.
                staging.values().map_err(|error| team.at(*from - first, error))?;
            }
            let mut write = || {
                let mut values = targets[k].reborrow().slice(*target..*target + *len)?;
                match path {
                    Path::Device(kept) => values.copy_from(&*kept),
                    Path::Host(staging) | Path::Out(staging) | Path::In(staging) => values.write_in_order(staging),
                }
            };
            write().map_err(|error| team.at(k, error))?;
        }
        Ok(())
    }

    /// The whole exchange within the same memory: the sources are the targets.
    ///
    /// # Errors
    /// As [`Exchange::begin`] and [`Exchange::finish`].
    pub fn run<'a, P: 'a>(&mut self, parts: &'a mut [P]) -> Result<()>
    where
        for<'p> &'p P: Into<View<'p, T>>,
        for<'p> &'p mut P: Into<ViewMut<'p, T>>,
    {
        let sources: Vec<View<'_, T>> = parts.iter().map(Into::into).collect();
        self.read(&sources)?;
        drop(sources);
        let mut targets: Vec<ViewMut<'_, T>> = parts.iter_mut().map(Into::into).collect();
        self.finish(&mut targets)
    }
}
