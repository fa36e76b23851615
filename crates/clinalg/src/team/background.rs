//! Exchanges that overlap with kernels.

use super::{Message, Received, Sent, Team};
use crate::runtime::{Event, Staging, View, ViewMut};
use crate::{Buffer, Element, Result};

/// Messages between ranks that leave their sources before other kernels are enqueued and reach their targets after them. Copies on the devices hold
/// the values meanwhile, so that the kernels may use the sources and targets.
#[derive(Debug)]
pub(super) struct Background<T: Element> {
    team: Team,
    routes: Vec<Route<T>>,
    stage: Stage,
}

/// The progress of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// No exchange is in progress.
    Idle,
    /// The values are being read from the senders.
    Left,
    /// The values are being written to the devices of the receivers.
    Arriving,
}

/// A message that begins or ends in this process, with copies of its values on the devices of this process.
#[derive(Debug)]
struct Route<T: Element> {
    message: Message,
    staging: Staging<T>,
    leaving: Option<Buffer<T>>,
    arriving: Option<Buffer<T>>,
    /// The event after which the receive buffer may be overwritten; later, the event of its arrival.
    ready: Option<Event>,
}

/// Most bytes per transfer: about 80 microseconds on an H200, the longest that another exchange has to wait. While one piece goes to its receiver,
/// the next one is read.
const PIECE: usize = 1 << 22;

/// Splits a message into pieces of at most `bytes` bytes.
fn pieces<T: Element>(message: &Message, bytes: usize) -> impl Iterator<Item = Message> + use<T> {
    let (message, most) = (*message, (bytes / size_of::<T>()).max(1));
    (0..message.len).step_by(most).map(move |done| Message {
        source: message.source + done,
        target: message.target + done,
        len: most.min(message.len - done),
        ..message
    })
}

impl<T: Element> Background<T> {
    /// As [`Exchange::new`](super::Exchange::new), for messages between different ranks.
    pub(super) fn new(team: &Team, messages: &[Message]) -> Result<Background<T>> {
        Background::in_pieces(team, messages, PIECE)
    }

    fn in_pieces(team: &Team, messages: &[Message], bytes: usize) -> Result<Background<T>> {
        let local = team.local();
        let kept = |rank: usize, len: usize| {
            let k = rank.checked_sub(local.start).filter(|&k| k < local.len());
            k.map(|k| Buffer::uninit(&team.contexts()[k], len).map_err(|error| team.at(k, error)))
        };
        let mut routes = Vec::new();
        for message in messages.iter().flat_map(|message| pieces::<T>(message, bytes)) {
            let Message { from, to, len, .. } = message;
            if len == 0 || !(local.contains(&from) || local.contains(&to)) {
                continue;
            }
            let owner = if local.contains(&from) { from } else { to };
            routes.push(Route {
                message,
                staging: Staging::new(&team.contexts()[owner - local.start]),
                leaving: kept(from, len).transpose()?,
                arriving: kept(to, len).transpose()?,
                ready: None,
            });
        }
        Ok(Background { team: team.clone(), routes, stage: Stage::Idle })
    }

    /// Starts to read the values to be sent from `sources`, one per rank of this process. An earlier exchange that has not ended is discarded.
    pub(super) fn begin(&mut self, sources: &[View<'_, T>]) -> Result<()> {
        let Background { team, routes, stage } = self;
        let first = team.local().start;
        for Route { message: Message { from, source, len, .. }, leaving, .. } in &mut *routes {
            if let Some(leaving) = leaving {
                let values = sources[*from - first].slice(*source..*source + *len);
                values.and_then(|values| leaving.copy_from(values)).map_err(|error| team.at(*from - first, error))?;
            }
        }
        let marks = team.each(|_, context| context.queue().mark())?;
        for Route { message: Message { from, to, .. }, staging, leaving, arriving, ready } in routes {
            if let Some(leaving) = leaving {
                let read = View::from(&*leaving).read_beside(&marks[*from - first], staging);
                read.map_err(|error| team.at(*from - first, error))?;
            }
            if arriving.is_some() {
                *ready = Some(marks[*to - first].clone());
            }
        }
        *stage = Stage::Left;
        Ok(())
    }

    /// If an exchange has begun, waits until its values are read, and starts to send them to the devices of the receivers.
    pub(super) fn advance(&mut self) -> Result<()> {
        if self.stage != Stage::Left {
            return Ok(());
        }
        let Background { team, routes, stage } = self;
        let first = team.local().start;
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for Route { message: Message { from, to, len, .. }, staging, leaving, arriving, .. } in &mut *routes {
            match (leaving, arriving) {
                (Some(_), None) => {
                    let bytes = staging.bytes().map_err(|error| team.at(*from - first, error))?;
                    sent.push(Sent { from: *from, to: *to, bytes });
                }
                (None, Some(_)) => {
                    let bytes = staging.bytes_mut(*len).map_err(|error| team.at(*to - first, error))?;
                    received.push(Received { from: *from, to: *to, bytes });
                }
                _ => {}
            }
        }
        if !sent.is_empty() || !received.is_empty() {
            team.network().exchange(&sent, &mut received)?;
        }
        for Route { message: Message { from, to, .. }, staging, leaving, arriving, ready } in routes {
            let (Some(arriving), Some(free)) = (arriving, &*ready) else { continue };
            if leaving.is_some() {
                // An error of the read belongs to the sender.
                staging.values().map_err(|error| team.at(*from - first, error))?;
            }
            let written = ViewMut::from(arriving).write_beside(free, staging);
            *ready = Some(written.map_err(|error| team.at(*to - first, error))?);
        }
        *stage = Stage::Arriving;
        Ok(())
    }

    /// If an exchange has begun, copies the received values to `targets`, one per rank of this process. Kernels enqueued there afterwards see them.
    pub(super) fn end(&mut self, targets: &mut [ViewMut<'_, T>]) -> Result<()> {
        self.advance()?;
        if std::mem::replace(&mut self.stage, Stage::Idle) == Stage::Idle {
            return Ok(());
        }
        let Background { team, routes, .. } = self;
        let first = team.local().start;
        // Pieces arrive at a rank in order, so waiting for the last one is enough.
        let mut last: Vec<Option<&Event>> = vec![None; team.contexts().len()];
        for Route { message, arriving, ready, .. } in &*routes {
            if arriving.is_some() {
                last[message.to - first] = ready.as_ref();
            }
        }
        team.each(|k, context| last[k].map_or(Ok(()), |arrived| context.queue().wait_for(arrived)))?;
        for Route { message: Message { to, target, len, .. }, arriving, .. } in routes {
            let Some(arriving) = arriving else { continue };
            let k = *to - first;
            let mut write = || targets[k].reborrow().slice(*target..*target + *len)?.copy_from(&*arriving);
            write().map_err(|error| team.at(k, error))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::devices;
    use crate::{Context, ContextOptions};

    /// Two contexts on one device, with other values each time; sources and targets are overwritten while the messages travel.
    #[test]
    fn pieces_bring_what_was_there_when_the_exchange_began() {
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        let context = || Context::new(&devices[0], &ContextOptions::default()).unwrap();
        let team = Team::of_contexts(vec![context(), context()]).unwrap();
        let message = |from, source, to, target, len| Message { from, source, to, target, len };
        // 37 values in pieces of 8, the last of 5, and 3 in one piece.
        let messages = [message(0, 50, 1, 2, 37), message(1, 60, 0, 11, 37), message(1, 0, 0, 90, 3)];
        let mut background = Background::<f64>::in_pieces(&team, &messages, 64).unwrap();
        assert_eq!(background.routes.len(), 11);
        for turn in 0..3 {
            let values = |rank: usize| -> Vec<f64> {
                (0..100).map(|i| f64::from(1000 * turn + i) + rank as f64 / 2.0).collect()
            };
            let given = [values(0), values(1)];
            let mut buffers: Vec<Buffer<f64>> =
                (0..2).map(|k| Buffer::from_slice(&team.contexts()[k], &given[k]).unwrap()).collect();
            background.begin(&[View::from(&buffers[0]), View::from(&buffers[1])]).unwrap();
            for (k, buffer) in buffers.iter_mut().enumerate() {
                buffer.copy_from(View::from(&Buffer::zeroed(&team.contexts()[k], 100).unwrap())).unwrap();
            }
            if turn == 1 {
                background.advance().unwrap();
            }
            let mut targets: Vec<ViewMut<'_, f64>> = buffers.iter_mut().map(ViewMut::from).collect();
            background.end(&mut targets).unwrap();
            let mut expected = [vec![0.0; 100], vec![0.0; 100]];
            for Message { from, source, to, target, len } in messages {
                expected[to][target..target + len].copy_from_slice(&given[from][source..source + len]);
            }
            let found: Vec<Vec<f64>> = buffers.iter().map(|buffer| buffer.to_vec().unwrap()).collect();
            assert_eq!(found, expected);
        }
    }
}
