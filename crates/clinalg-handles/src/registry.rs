//! The table of handles.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use clinalg::runtime::fork;
use clinalg::{Error, HandleFault, Precision, Result};
use once_cell::sync::Lazy;

use crate::kind::{Info, Kind};
use crate::object::Object;
use crate::object::cell::{Cell, Entry, Guard, use_all};
use crate::object::pending::{self, Pending};
use crate::object::resident::LIMIT;

/// A handle in a call: which argument it is and which kinds the call takes there.
#[derive(Debug, Clone, Copy)]
pub struct Operand {
    argument: &'static str,
    handle: u64,
    kinds: &'static [Kind],
}

impl Operand {
    /// `handle` as `argument`, an object of one of `kinds`.
    pub fn new(argument: &'static str, handle: u64, kinds: &'static [Kind]) -> Operand {
        Operand { argument, handle, kinds }
    }

    pub(crate) fn any(argument: &'static str, handle: u64) -> Operand {
        Operand::new(argument, handle, Kind::VALUES)
    }

    fn fault(&self, fault: HandleFault) -> Error {
        let words: Vec<_> = self.kinds.iter().map(|k| k.words()).collect();
        Error::Handle { argument: self.argument, fault, handle: self.handle, expected: words.join(" or ") }
    }
}

/// Bits of a generation.
const GENERATION: u32 = 24;
/// Number of generations of a slot.
const GENERATIONS: u32 = 1 << GENERATION;
/// In the kind byte, the mark of double precision.
const DOUBLE: u8 = 0x80;
/// In the kind byte, the mark of complex values.
const COMPLEX: u8 = 0x40;
/// The bits of the kind byte that name the kind.
const KIND: u8 = !(DOUBLE | COMPLEX);

/// One place of the table.
struct Slot {
    /// Generation of the first use.
    first: u32,
    /// Uses so far, the present one counted.
    uses: u32,
    /// Kind and type of the object that is or was here.
    kind: u8,
    cell: Option<Cell>,
    /// Releases that free the object.
    owners: u32,
}

#[derive(Default)]
struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
    live: usize,
}

impl Table {
    fn find(&self, operand: &Operand) -> Result<&Cell> {
        let handle = operand.handle;
        let fault = |fault| Err(operand.fault(fault));
        let Some(slot) = self.slots.get(handle as u32 as usize) else { return fault(HandleFault::Foreign) };
        let generation = (handle >> 32) as u32 % GENERATIONS;
        let kind = (handle >> 56) as u8;
        let use_number = generation.wrapping_sub(slot.first) % GENERATIONS;
        let known = Kind::ALL.iter().any(|&k| k as u8 == kind & KIND);
        if !known || use_number >= slot.uses {
            return fault(HandleFault::Foreign);
        }
        match &slot.cell {
            _ if use_number + 1 < slot.uses => fault(HandleFault::Stale),
            _ if kind != slot.kind => fault(HandleFault::Foreign),
            None => fault(HandleFault::Stale),
            Some(_) if !operand.kinds.iter().any(|&k| k as u8 == kind & KIND) => fault(HandleFault::Kind),
            Some(cell) => Ok(cell),
        }
    }

    /// Takes the object out of a slot and lets the slot be used again while it has generations left.
    fn clear(&mut self, index: u32) -> Option<Cell> {
        let slot = &mut self.slots[index as usize];
        let cell = slot.cell.take()?;
        self.live -= 1;
        if slot.uses < GENERATIONS {
            self.free.push(index);
        }
        Some(cell)
    }
}

/// A table of device objects with handles; see the [crate](crate).
pub struct Registry {
    seed: u64,
    table: Mutex<Table>,
    /// Expressions that may wait for their evaluation.
    waiting: Mutex<Vec<Weak<Entry>>>,
}

impl Default for Registry {
    fn default() -> Registry {
        Registry { seed: rand::random(), table: Mutex::default(), waiting: Mutex::default() }
    }
}

static GLOBAL: Lazy<Registry> = Lazy::new(Registry::default);

/// The objects of a call, each once, with the operand that named it first and whether it is written.
struct Cells(Vec<(Operand, bool, Cell)>);

impl Cells {
    fn use_all(&self) -> Result<Vec<Guard<'_>>> {
        let guards = use_all(self.0.iter().map(|(_, written, cell)| (cell, *written)));
        guards.map_err(|refused| refused.error(|at| self.0[at].0.argument))
    }

    fn place(&self, cell: &Cell) -> usize {
        self.0.iter().position(|(.., known)| Arc::ptr_eq(known, cell)).expect("every object was added")
    }

    fn position(&self, operand: &Operand) -> usize {
        self.0.iter().position(|(of, ..)| of.handle == operand.handle).expect("every operand was looked up")
    }
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// The one registry of the process.
    pub fn global() -> &'static Registry {
        &GLOBAL
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // No critical section below panics half-way.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an object and names it.
    pub fn insert(&self, object: impl Into<Object>) -> u64 {
        self.insert_cell(object.into()).0
    }

    /// As [`insert`](Registry::insert), with the object's place in memory.
    fn insert_cell(&self, object: Object) -> (u64, Cell) {
        let (double, complex) = (object.precision() == Precision::F64, object.scalar().is_complex());
        let kind = object.kind() as u8 | if double { DOUBLE } else { 0 } | if complex { COMPLEX } else { 0 };
        let mut table = self.table();
        table.live += 1;
        let index = match table.free.pop() {
            Some(index) => index,
            None => {
                let index = u32::try_from(table.slots.len()).expect("2^32 objects do not fit any memory");
                let first = mixed(self.seed.wrapping_add(u64::from(index))) % GENERATIONS;
                table.slots.push(Slot { first, uses: 0, kind, cell: None, owners: 0 });
                index
            }
        };
        let cell = Arc::new(Entry::new(object));
        let slot = &mut table.slots[index as usize];
        let generation = slot.first.wrapping_add(slot.uses) % GENERATIONS;
        slot.uses += 1;
        slot.kind = kind;
        slot.cell = Some(cell.clone());
        slot.owners = 1;
        (u64::from(kind) << 56 | u64::from(generation) << 32 | u64::from(index), cell)
    }

    /// Takes an expression that is evaluated when its values are needed, and names it.
    pub(crate) fn insert_pending(&self, pending: Pending) -> u64 {
        let (handle, cell) = self.insert_cell(Arc::new(pending).into());
        let mut waiting = self.waiting();
        // The list is cleaned when it has grown to twice what waits.
        if waiting.len() == waiting.capacity() {
            waiting.retain(|one| one.upgrade().is_some_and(|cell| cell.pending().is_some()));
            let count = waiting.len();
            waiting.reserve(count.max(16));
        }
        waiting.push(Arc::downgrade(&cell));
        handle
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Weak<Entry>>> {
        // As with the table.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Evaluates what waits and reads `cell`, whose values are about to change.
    fn settle_readers(&self, cell: &Cell) -> Result<()> {
        let all: Vec<_> = self.waiting().iter().filter_map(Weak::upgrade).collect();
        for one in all {
            if one.pending().is_some_and(|pending| pending.reads(cell)) {
                pending::evaluate(&one)?;
            }
        }
        Ok(())
    }

    /// The object in memory, evaluated or not.
    pub(crate) fn cell(&self, operand: &Operand) -> Result<Cell> {
        fork::check()?;
        self.table().find(operand).cloned()
    }

    /// Adds an owner to an object: one more [`release`](Registry::release) is needed to free it.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for more than 2^32 - 1 owners.
    pub fn retain(&self, handle: u64) -> Result<()> {
        let mut table = self.table();
        table.find(&Operand::new("handle", handle, Kind::ALL))?;
        let owners = &mut table.slots[handle as u32 as usize].owners;
        let more = owners.checked_add(1);
        *owners = more.ok_or_else(|| Error::value("handle", "an object of fewer than 2^32 - 1 owners", *owners))?;
        Ok(())
    }

    /// Frees the object of one of `kinds`, unless it has other owners ([`retain`](Registry::retain)); a call that uses it
    /// in another thread ends first. In the child of a fork there is nothing to free.
    ///
    /// # Errors
    /// [`Error::Handle`], which harms nothing: a second release is [`HandleFault::Stale`].
    pub fn release(&self, handle: u64, kinds: &'static [Kind]) -> Result<()> {
        if fork::is_child() {
            return Ok(());
        }
        let mut table = self.table();
        table.find(&Operand::new("handle", handle, kinds))?;
        let owners = &mut table.slots[handle as u32 as usize].owners;
        *owners -= 1;
        if *owners > 0 {
            return Ok(());
        }
        let cell = table.clear(handle as u32);
        // The device memory goes after the table is free for others.
        drop(table);
        drop(cell);
        Ok(())
    }

    /// Frees all objects and says how many; every handle given out so far is stale then.
    pub fn release_all(&self) -> usize {
        if fork::is_child() {
            return 0;
        }
        let mut table = self.table();
        let cells: Vec<_> = (0..table.slots.len()).filter_map(|index| table.clear(index as u32)).collect();
        drop(table);
        cells.len()
    }

    /// Number of live objects.
    pub fn len(&self) -> usize {
        self.table().live
    }

    /// Whether there is no live object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What `handle` names.
    ///
    /// # Errors
    /// [`Error::Handle`].
    pub fn info(&self, handle: u64) -> Result<Info> {
        Ok(self.cell(&Operand::new("handle", handle, Kind::ALL))?.info())
    }

    /// Calls `f` with the object, which others may read meanwhile and not write: a call of `f` that would is an error.
    ///
    /// # Errors
    /// [`Error::Handle`].
    pub fn with<R>(&self, handle: u64, f: impl FnOnce(&Object) -> R) -> Result<R> {
        self.call(&[Operand::new("handle", handle, Kind::ALL)], None, |inputs, _| Ok(f(inputs[0])))
    }

    /// Calls `f` with the objects of `inputs`, in their order, and the one of `output` to be written. A call of
    /// `f` that writes an input or uses the output is an error.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] when the output is one of the inputs; those of `f`.
    pub fn call<R>(
        &self,
        inputs: &[Operand],
        output: Option<Operand>,
        f: impl FnOnce(&[&Object], Option<&mut Object>) -> Result<R>,
    ) -> Result<R> {
        self.call_aliased(inputs, output, |objects, written| {
            if let Some(at) = objects.iter().position(Option::is_none) {
                let expected = format!("an object other than argument `{}`", inputs[at].argument);
                let (argument, handle) = output.map_or(("output", 0), |o| (o.argument, o.handle));
                return Err(Error::value(argument, expected, format!("handle {handle:#018x}")));
            }
            let objects: Vec<_> = objects.iter().copied().flatten().collect();
            f(&objects, written)
        })
    }

    /// As [`call`](Registry::call) for operations whose output may be an input: such an input is `None` for `f`.
    pub(crate) fn call_aliased<R>(
        &self,
        inputs: &[Operand],
        output: Option<Operand>,
        f: impl FnOnce(&[Option<&Object>], Option<&mut Object>) -> Result<R>,
    ) -> Result<R> {
        let is_output = |input: &Operand| output.as_ref().is_some_and(|output| output.handle == input.handle);
        // Checks the kind that the input must have as well.
        let cells = self.cells(inputs, output.as_ref())?;
        let mut guards = cells.use_all()?;
        let mut written = output.as_ref().map(|o| cells.position(o)).map(|at| (at, guards.remove(at)));
        let behind = |at: usize| written.as_ref().is_some_and(|(out, _)| *out < at);
        let inputs: Vec<_> = inputs
            .iter()
            .map(|input| {
                let at = cells.position(input);
                (!is_output(input)).then(|| &*guards[at - usize::from(behind(at))])
            })
            .collect();
        f(&inputs, written.as_mut().and_then(|(_, object)| object.written()))
    }

    /// As [`call`](Registry::call) with further objects that are read and need no handle, `beside`; `f` gets them after the inputs.
    ///
    /// # Errors
    /// As [`call`](Registry::call); [`Error::Value`] also where the output is one of `beside`.
    pub(crate) fn call_beside<R>(
        &self,
        inputs: &[Operand],
        beside: &[Cell],
        output: Option<Operand>,
        f: impl FnOnce(&[&Object], &[&Object], Option<&mut Object>) -> Result<R>,
    ) -> Result<R> {
        let mut cells = self.cells(inputs, output.as_ref())?;
        let written = output.as_ref().map(|output| cells.0[cells.position(output)].2.clone());
        let taken = |cell: &Cell| written.as_ref().is_some_and(|written| Arc::ptr_eq(written, cell));
        let is_input = |input: &Operand| output.as_ref().is_some_and(|output| output.handle == input.handle);
        if let Some(output) = &output
            && (beside.iter().any(taken) || inputs.iter().any(is_input))
        {
            let got = format!("handle {:#018x}", output.handle);
            return Err(Error::value(output.argument, "an object other than those that the call reads", got));
        }
        for cell in beside {
            pending::settle(cell)?;
            if !cells.0.iter().any(|(.., known)| Arc::ptr_eq(known, cell)) {
                cells.0.push((Operand::new("a", 0, Kind::ALL), false, cell.clone()));
            }
        }
        let mut guards = cells.use_all()?;
        let at = written.as_ref().map(|written| cells.place(written));
        let mut written = at.map(|at| (at, guards.remove(at)));
        let before = |at: usize| written.as_ref().is_some_and(|(out, _)| *out < at);
        let object = |at: usize| &*guards[at - usize::from(before(at))];
        let read: Vec<_> = inputs.iter().map(|input| object(cells.position(input))).collect();
        let others: Vec<_> = beside.iter().map(|cell| object(cells.place(cell))).collect();
        f(&read, &others, written.as_mut().and_then(|(_, output)| output.written()))
    }

    /// Calls `f` with vectors and dense matrices that are small, with their values on the host; `None` where one is no such object.
    pub(crate) fn on_host<R>(
        &self,
        inputs: &[Operand],
        f: impl FnOnce(&[&Object]) -> Result<Option<R>>,
    ) -> Result<Option<R>> {
        let cells = self.look_up(inputs, None)?;
        if !cells.0.iter().all(|(.., cell)| Kind::FULL.contains(&cell.info().kind) && cell.info().entries <= LIMIT) {
            return Ok(None);
        }
        cells.0.iter().try_for_each(|(.., cell)| pending::evaluate(cell))?;
        let guards = cells.use_all()?;
        if !guards.iter().all(|object| object.is_small()) {
            return Ok(None);
        }
        guards.iter().try_for_each(|object| object.fetch())?;
        let objects: Vec<_> = inputs.iter().map(|input| &*guards[cells.position(input)]).collect();
        f(&objects)
    }

    /// Looks the operands up, evaluates them and copies them to the device.
    fn cells(&self, inputs: &[Operand], output: Option<&Operand>) -> Result<Cells> {
        let cells = self.look_up(inputs, output)?;
        for (_, write, cell) in &cells.0 {
            pending::settle(cell)?;
            if *write {
                self.settle_readers(cell)?;
            }
        }
        Ok(cells)
    }

    /// Looks the operands up.
    fn look_up(&self, inputs: &[Operand], output: Option<&Operand>) -> Result<Cells> {
        fork::check()?;
        let table = self.table();
        let mut cells: Vec<(Operand, bool, Cell)> = Vec::with_capacity(inputs.len() + 1);
        let operands = inputs.iter().map(|i| (i, false)).chain(output.map(|o| (o, true)));
        for (operand, write) in operands {
            let cell = table.find(operand)?;
            match cells.iter_mut().find(|(of, ..)| of.handle == operand.handle) {
                Some((_, writes, _)) => *writes |= write,
                None => cells.push((*operand, write, cell.clone())),
            }
        }
        Ok(Cells(cells))
    }

    /// The handle of the object made, else the one given.
    pub(crate) fn result(&self, made: Option<Object>, given: Option<u64>) -> u64 {
        match (made, given) {
            (None, Some(handle)) => handle,
            (Some(object), _) => self.insert(object),
            (None, None) => unreachable!("a call writes its output or makes one"),
        }
    }
}

/// A well mixed 32-bit number for each 64-bit one (splitmix64; Steele, Lea, Flood, OOPSLA 2014).
fn mixed(number: u64) -> u32 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use clinalg::runtime::devices;
    use clinalg::{Context, ContextOptions};

    #[test]
    fn a_slot_without_generations_left_is_retired() {
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        let context = Context::new(&devices[0], &ContextOptions::default()).unwrap();
        let registry = Registry::new();
        let first = registry.upload_vector(&context, &[1.0_f32]).unwrap();
        registry.release(first, Kind::VALUES).unwrap();
        // All but the last use are behind it.
        registry.table().slots[0].uses = GENERATIONS - 1;
        let last = registry.upload_vector(&context, &[2.0_f32]).unwrap();
        assert_eq!((last as u32, registry.table().slots[0].uses), (0, GENERATIONS));
        // The generation after the last would be the first again.
        assert_eq!(((last >> 32) as u32 + 1) % GENERATIONS, (first >> 32) as u32 % GENERATIONS);
        assert_eq!(registry.sum(last).unwrap(), 2.0);
        registry.release(last, Kind::VALUES).unwrap();
        let next = registry.upload_vector(&context, &[3.0_f32]).unwrap();
        assert_eq!((next as u32, registry.sum(next).unwrap()), (1, 3.0));
        for old in [first, last] {
            assert_eq!(registry.sum(old).unwrap_err().id(), "clinalg:handle:stale");
        }
        // Every generation of the retired slot was handed out once.
        for generation in (0..u64::from(GENERATIONS)).step_by(65_537) {
            let handle = u64::from(Kind::Vector as u8) << 56 | generation << 32;
            assert_eq!(registry.sum(handle).unwrap_err().id(), "clinalg:handle:stale");
        }
    }
}
