//! The other processes: who they are, and whether they live.

use std::sync::atomic::{AtomicBool, Ordering};

use clinalg::Error;
use serde_json::json;

use crate::identity::Identity;

/// Whether the launcher has asked this process to end.
static SIGNALLED: AtomicBool = AtomicBool::new(false);

/// The exit code of a process that a signal ended, as shells count it: 128 + SIGINT.
const SIGINT: i32 = 130;

/// What a program calls when it receives SIGINT or SIGTERM, which a launcher sends where another process has died: the next wait for
/// another process ends with an error that names it. Called twice, it ends the process.
pub fn signalled() {
    if SIGNALLED.swap(true, Ordering::Relaxed) {
        // Without exit handlers: those of a driver destroy what its compiler needs, while another thread may be in there.
        // SAFETY: the process ends.
        unsafe { libc::_exit(SIGINT) }
    }
}

/// Whether [`signalled`] was called.
pub(crate) fn was_signalled() -> bool {
    SIGNALLED.load(Ordering::Relaxed)
}

/// Another process.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) host: String,
    /// Its number, where it is on this host and can be seen from here.
    pid: Option<i32>,
}

impl Peer {
    pub(crate) fn new(identity: &Identity, own: &Identity) -> Peer {
        let here = identity.host == own.host && identity.pid != own.pid && exists(identity.pid);
        Peer { host: identity.host.clone(), pid: here.then_some(identity.pid) }
    }

    /// Whether it is known to have ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.pid.is_some_and(|pid| !exists(pid))
    }
}

/// Whether a process of this host exists.
fn exists(pid: i32) -> bool {
    // SAFETY: signal 0 only asks whether the process exists.
    let answer = unsafe { libc::kill(pid, 0) };
    answer == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

/// The failure of a process, as it tells the others or as they find out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) rank: usize,
    pub(crate) device: String,
    pub(crate) id: String,
    pub(crate) message: String,
}

impl Lost {
    pub(crate) fn to_text(&self) -> String {
        json!([self.rank, self.device, self.id, self.message]).to_string()
    }

    pub(crate) fn from_text(text: &str) -> Option<Lost> {
        let (rank, device, id, message) = serde_json::from_str(text).ok()?;
        Some(Lost { rank, device, id, message })
    }

    pub(crate) fn error(&self) -> Error {
        let source = Box::new(Error::process(&self.id, &self.message));
        Error::Rank { rank: self.rank, device: self.device.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_travel_with_their_identifier() {
        let [device, id, message] = ["cpu \"x\"", "clinalg:device:memory", "too much"].map(str::to_owned);
        let lost = Lost { rank: 3, device, id, message };
        assert_eq!(Lost::from_text(&lost.to_text()), Some(lost.clone()));
        let error = lost.error();
        assert_eq!(error.id(), "clinalg:device:memory");
        assert_eq!(error.to_string(), "rank 3 of the team, device `cpu \"x\"`: too much");
        assert_eq!(Lost { id: "nonsense".into(), ..lost }.error().id(), "clinalg:team:lost");
    }

    #[test]
    fn a_process_that_ended_is_noticed() {
        let own = |pid| Identity { version: String::new(), arguments: Vec::new(), host: "here".into(), pid };
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let peer = Peer::new(&own(child.id() as i32), &own(std::process::id() as i32));
        assert!(!peer.has_ended());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(peer.has_ended());
        // One that cannot be seen from here counts as alive.
        assert!(!Peer::new(&own(child.id() as i32), &own(1)).has_ended());
    }
}
