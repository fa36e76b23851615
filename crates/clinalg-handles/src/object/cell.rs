//! Objects that calls and expressions share.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::Object;

/// An object and the number of its place, after which calls lock their objects.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) index: u32,
    /// Whether the caller keeps dimensions of its own, of an array with more than two.
    pub(crate) marked: AtomicBool,
    pub(crate) object: RwLock<Object>,
}

impl Entry {
    pub(crate) fn new(index: u32, object: Object) -> Entry {
        Entry { index, marked: AtomicBool::new(false), object: RwLock::new(object) }
    }
}

/// An object; expressions that wait for their evaluation keep it alive behind its handle.
pub(crate) type Cell = Arc<Entry>;

/// A panic while an object was locked leaves it as usable as the device left its values.
pub(crate) fn read(cell: &Cell) -> RwLockReadGuard<'_, Object> {
    RwLock::read(&cell.object).unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn write(cell: &Cell) -> RwLockWriteGuard<'_, Object> {
    RwLock::write(&cell.object).unwrap_or_else(PoisonError::into_inner)
}
