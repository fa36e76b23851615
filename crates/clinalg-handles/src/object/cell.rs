//! Objects that calls and expressions share, and which call uses them.
//!
//! A call claims its objects and waits, holding none of them, until it gets all. A function of the user that runs in a call may call
//! this library itself: it adds claims to those of the call that runs it. What the latter exclude is an error at once, and so is a
//! wait for a call that itself waits for one of them.

use std::cell::Cell as Slot;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};

use clinalg::{Error, Result};

use super::{Object, Pending};
use crate::kind::Info;

/// An object.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Whether the caller keeps dimensions of its own, of an array with more than two.
    pub(crate) marked: AtomicBool,
    /// What the object is between calls that write it: questions for its size do not wait for them.
    seen: Mutex<Seen>,
    object: RwLock<Object>,
}

#[derive(Debug)]
struct Seen {
    info: Info,
    pending: Option<Arc<Pending>>,
    is_resident: bool,
}

impl Seen {
    fn new(object: &Object) -> Seen {
        Seen { info: object.info(), pending: object.pending().cloned(), is_resident: object.is_resident() }
    }
}

impl Entry {
    pub(crate) fn new(object: Object) -> Entry {
        Entry { marked: AtomicBool::new(false), seen: Mutex::new(Seen::new(&object)), object: RwLock::new(object) }
    }

    pub(crate) fn info(&self) -> Info {
        unpoisoned(self.seen.lock()).info
    }

    /// The expression that waits for its evaluation, if it is one.
    pub(crate) fn pending(&self) -> Option<Arc<Pending>> {
        unpoisoned(self.seen.lock()).pending.clone()
    }

    /// Whether the values are on the host only.
    pub(crate) fn is_resident(&self) -> bool {
        unpoisoned(self.seen.lock()).is_resident
    }

    fn place(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// An object; expressions that wait for their evaluation keep it alive behind its handle.
pub(crate) type Cell = Arc<Entry>;

/// A panic while an object was locked leaves it as usable as the device left its values.
fn unpoisoned<G>(locked: std::result::Result<G, PoisonError<G>>) -> G {
    locked.unwrap_or_else(PoisonError::into_inner)
}

/// As [`unpoisoned`] for a lock that a claim keeps free.
fn claimed<G>(locked: std::result::Result<G, TryLockError<G>>) -> G {
    match locked {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => unreachable!("a claim excludes other users"),
    }
}

/// The thread of calls that a call belongs to: calls of functions of the user belong to that of the call that runs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller(u64);

static CALLERS: AtomicU64 = AtomicU64::new(0);
thread_local! {
    static CALLER: Slot<Caller> = Slot::new(Caller(CALLERS.fetch_add(1, Ordering::Relaxed)));
}

impl Caller {
    /// That of this thread.
    pub fn current() -> Caller {
        CALLER.get()
    }

    /// Calls `f`, whose calls belong to this one, as those of a thread that works for another which waits for it.
    pub fn adopt<R>(self, f: impl FnOnce() -> R) -> R {
        struct Restore(Caller);
        impl Drop for Restore {
            fn drop(&mut self) {
                CALLER.set(self.0);
            }
        }
        let _restore = Restore(CALLER.replace(self));
        f()
    }
}

/// A place in memory, and whether it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Use {
    place: usize,
    written: bool,
}

impl Use {
    fn excludes(self, other: Use) -> bool {
        self.place == other.place && (self.written || other.written)
    }
}

struct Wait {
    caller: Caller,
    uses: Vec<Use>,
}

/// What all calls use and wait for.
struct Claims {
    held: Vec<(Caller, Use)>,
    /// In the order of their arrival.
    waiting: Vec<Arc<Wait>>,
}

static CLAIMS: Mutex<Claims> = Mutex::new(Claims { held: Vec::new(), waiting: Vec::new() });
/// Notified when a use ends while some call waits.
static ENDED: Condvar = Condvar::new();

impl Claims {
    fn lock() -> MutexGuard<'static, Claims> {
        unpoisoned(CLAIMS.lock())
    }

    /// The callers whose uses exclude one of `uses`.
    fn holders<'a>(&'a self, uses: &'a [Use]) -> impl Iterator<Item = Caller> + 'a {
        let excluded = |held: &Use| uses.iter().any(|one| one.excludes(*held));
        self.held.iter().filter(move |(_, held)| excluded(held)).map(|(caller, _)| *caller)
    }

    /// Whether a caller of `uses` waits for `caller`, through others that wait.
    fn waits_for(&self, uses: &[Use], caller: Caller) -> bool {
        let (mut next, mut at): (Vec<Caller>, usize) = (self.holders(uses).collect(), 0);
        while let Some(&holder) = next.get(at) {
            for wait in self.waiting.iter().filter(|wait| wait.caller == holder) {
                for other in self.holders(&wait.uses) {
                    if other == caller {
                        return true;
                    }
                    if !next.contains(&other) {
                        next.push(other);
                    }
                }
            }
            at += 1;
        }
        false
    }
}

/// The use of a place until it is dropped.
struct Claim(Caller, Use);

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claims = Claims::lock();
        let own = claims.held.iter().rposition(|held| *held == (self.0, self.1)).expect("it was claimed");
        claims.held.swap_remove(own);
        if !claims.waiting.is_empty() {
            ENDED.notify_all();
        }
    }
}

/// Which of the objects a call cannot have, and why.
pub(crate) struct Refused {
    at: usize,
    reason: &'static str,
}

impl Refused {
    /// The error, with the name of each object's argument.
    pub(crate) fn error(&self, argument: impl FnOnce(usize) -> &'static str) -> Error {
        Error::unsuitable(argument(self.at), self.reason)
    }
}

/// Waits until no other call excludes `uses`, and takes them all.
fn claim(uses: Vec<Use>) -> std::result::Result<Vec<Claim>, Refused> {
    let caller = Caller::current();
    let mut claims = Claims::lock();
    let own = |one: &Use| claims.held.iter().find(|(of, held)| *of == caller && held.excludes(*one));
    if let Some((at, written)) =
        uses.iter().enumerate().find_map(|(at, one)| own(one).map(|(_, held)| (at, held.written)))
    {
        let reason = match written {
            true => "the call that runs this callback writes it; use it after that call, or use another object",
            false => "the call that runs this callback reads it, so the callback cannot write it; write another object",
        };
        return Err(Refused { at, reason });
    }
    // A call that runs a function of the user does not let others go first: they may wait for its objects.
    let nested = claims.held.iter().any(|(of, _)| *of == caller);
    let wait = Arc::new(Wait { caller, uses });
    let uses = &wait.uses;
    let is_own = |other: &Arc<Wait>| Arc::ptr_eq(other, &wait);
    let mut waits = false;
    loop {
        let meets = |other: &Arc<Wait>| other.uses.iter().any(|a| uses.iter().any(|b| a.excludes(*b)));
        let first = nested || !claims.waiting.iter().take_while(|other| !is_own(other)).any(meets);
        if first && claims.holders(uses).next().is_none() {
            break;
        }
        if nested && claims.waits_for(uses, caller) {
            claims.waiting.retain(|other| !is_own(other));
            let at = uses.iter().position(|one| claims.holders(&[*one]).next().is_some()).unwrap_or(0);
            let reason = "a call of another thread uses it and waits for an object of the call that runs this callback; use another object";
            return Err(Refused { at, reason });
        }
        if !waits {
            claims.waiting.push(wait.clone());
            waits = true;
        }
        claims = unpoisoned(ENDED.wait(claims));
    }
    if waits {
        claims.waiting.retain(|other| !is_own(other));
        // Those behind this one may go on beside it.
        ENDED.notify_all();
    }
    claims.held.extend(uses.iter().map(|one| (caller, *one)));
    Ok(uses.iter().map(|one| Claim(caller, *one)).collect())
}

enum Access<'a> {
    Read(RwLockReadGuard<'a, Object>),
    Write(RwLockWriteGuard<'a, Object>),
}

/// An object in use by a call.
pub(crate) struct Guard<'a> {
    access: Access<'a>,
    entry: &'a Entry,
    /// Ends after the access.
    _claim: Claim,
}

impl<'a> Guard<'a> {
    /// The object to be written, if it was claimed for that.
    pub(crate) fn written(&mut self) -> Option<&mut Object> {
        match &mut self.access {
            Access::Read(_) => None,
            Access::Write(object) => Some(object),
        }
    }
}

impl Deref for Guard<'_> {
    type Target = Object;

    fn deref(&self) -> &Object {
        match &self.access {
            Access::Read(object) => object,
            Access::Write(object) => object,
        }
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if let Access::Write(object) = &self.access {
            *unpoisoned(self.entry.seen.lock()) = Seen::new(object);
        }
    }
}

/// Uses all objects of a call, each named once with whether it is written.
pub(crate) fn use_all<'a>(
    cells: impl Iterator<Item = (&'a Cell, bool)> + Clone,
) -> std::result::Result<Vec<Guard<'a>>, Refused> {
    let claims = claim(cells.clone().map(|(cell, written)| Use { place: cell.place(), written }).collect())?;
    let guards = cells.zip(claims).map(|((entry, written), claim)| {
        let access = match written {
            true => Access::Write(claimed(entry.object.try_write())),
            false => Access::Read(claimed(entry.object.try_read())),
        };
        Guard { access, entry, _claim: claim }
    });
    Ok(guards.collect())
}

/// Uses one object, `argument` in errors.
pub(crate) fn use_one<'a>(argument: &'static str, cell: &'a Cell, written: bool) -> Result<Guard<'a>> {
    let guards = use_all(std::iter::once((cell, written))).map_err(|refused| refused.error(|_| argument))?;
    Ok(guards.into_iter().next().expect("one was claimed"))
}

/// What one call uses at a time: a solver, say, whose memory a call writes.
#[derive(Debug)]
pub(crate) struct Exclusive<T>(Mutex<T>);

/// The content of an [`Exclusive`] in use.
pub(crate) struct ExclusiveGuard<'a, T> {
    content: MutexGuard<'a, T>,
    /// Ends after the content.
    _claim: Claim,
}

impl<T> Exclusive<T> {
    pub(crate) fn new(content: T) -> Exclusive<T> {
        Exclusive(Mutex::new(content))
    }

    /// Uses it, `argument` in errors. A panic in an earlier call leaves content that every call begins anew with.
    ///
    /// # Errors
    /// [`Error::Unsuitable`] where the call that runs this function of the user uses it, or waits for that are circular.
    pub(crate) fn lock(&self, argument: &'static str) -> Result<ExclusiveGuard<'_, T>> {
        let claims = claim(vec![Use { place: std::ptr::from_ref(self).addr(), written: true }]);
        let claim = claims.map_err(|refused| refused.error(|_| argument))?.pop().expect("one was claimed");
        Ok(ExclusiveGuard { content: claimed(self.0.try_lock()), _claim: claim })
    }
}

impl<T> Deref for ExclusiveGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.content
    }
}

impl<T> DerefMut for ExclusiveGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.content
    }
}
