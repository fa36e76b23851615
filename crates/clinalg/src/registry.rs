//! Device objects behind plain 64-bit numbers, for doors that cannot hold a Rust object.
//!
//! | bits of a handle | content |
//! |---|---|
//! | 63 to 56 | [`Kind`], and in the highest bit the precision (1: double) |
//! | 55 to 32 | generation: which use of the slot this is |
//! | 31 to 0 | slot: position in the table |
//!
//! Each slot's generations begin at a random number, so that the handles of another process or registry are foreign
//! here. A slot whose generations are used up takes no object again: a released handle stays stale for ever.
//!
//! The operations here are those of [`ops`] on handles. A call locks the objects that it names, in one order over all
//! calls, so calls on different objects run side by side and none waits in a circle.
//!
//! ```no_run
//! use clinalg::{Context, registry::{Kind, Registry}};
//!
//! let registry = Registry::global();
//! let context = Context::global()?;
//! let x = registry.upload_vector(&context, &[3.0_f64, 4.0])?;
//! let y = registry.times_constant(x, 2.0, None)?;
//! assert_eq!(registry.norm2(y)?, 10.0);
//! registry.release(x, Kind::ANY)?;
//! registry.release(y, Kind::ANY)?;
//! # Ok::<(), clinalg::Error>(())
//! ```

mod format;
mod grid;
mod operator;
mod solve;
mod wave;

pub use operator::{AnyOperator, Applied};
pub use solve::{Method, Preconditioning};
pub use wave::{AnyWave, Membrane, WaveState};

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use once_cell::sync::Lazy;
use serde::Serialize;

use crate::matrix::Values;
use crate::ops::{self, axpby_raw, multiply_raw, scale_raw, settle};
use crate::reference::{BandParts, CsrParts};
use crate::{Band, Buffer, Context, Csr, Dense, Error, HandleFault, Precision, Real, Result, Vector};

/// What a handle names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kind {
    /// A [`Vector`].
    Vector = 1,
    /// A [`Dense`] matrix.
    Dense = 2,
    /// A [`Csr`] matrix.
    Csr = 3,
    /// A [`Band`] matrix.
    Band = 4,
    /// A [`Wave`](crate::grid::Wave).
    Wave = 5,
    /// An [`Operator`](crate::solve::Operator) that another crate made.
    Operator = 6,
}

impl Kind {
    /// Every kind.
    pub const ALL: &'static [Kind] = &[Kind::Vector, Kind::Dense, Kind::Csr, Kind::Band, Kind::Wave, Kind::Operator];
    /// A wave.
    pub const WAVE: &'static [Kind] = &[Kind::Wave];
    /// An operator.
    pub const OPERATOR: &'static [Kind] = &[Kind::Operator];
    /// Every kind of vector and matrix.
    pub const ANY: &'static [Kind] = &[Kind::Vector, Kind::Dense, Kind::Csr, Kind::Band];
    /// Full storage; a dense matrix of one row or column passes for a vector.
    pub const FULL: &'static [Kind] = &[Kind::Vector, Kind::Dense];
    /// Several vectors side by side.
    pub const COLUMNS: &'static [Kind] = &[Kind::Dense];
    /// What can be multiplied with a vector.
    pub const MATRIX: &'static [Kind] = &[Kind::Dense, Kind::Csr, Kind::Band, Kind::Operator];
    /// A matrix whose entries are known.
    pub const ENTRIES: &'static [Kind] = &[Kind::Dense, Kind::Csr, Kind::Band];
    /// What can be multiplied with a vector in its transposed form.
    pub const TRANSPOSED: &'static [Kind] = &[Kind::Dense, Kind::Csr];

    /// The kind in words.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Vector => "vector",
            Kind::Dense => "dense matrix",
            Kind::Csr => "sparse matrix",
            Kind::Band => "band matrix",
            Kind::Wave => "wave",
            Kind::Operator => "operator",
        }
    }
}

/// An object in one precision.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stored<T: Real> {
    /// A vector.
    Vector(Vector<T>),
    /// A dense matrix.
    Dense(Dense<T>),
    /// A sparse matrix.
    Csr(Csr<T>),
    /// A band matrix.
    Band(Band<T>),
}

/// An object whose precision is known at run time only.
#[derive(Debug)]
pub enum Object {
    /// In single precision.
    F32(Stored<f32>),
    /// In double precision.
    F64(Stored<f64>),
    /// A wave, in either precision.
    Wave(AnyWave),
    /// An operator, in either precision.
    Operator(AnyOperator),
}

/// A precision whose objects a registry holds.
pub trait Scalar: Real {
    /// Forgets the precision.
    fn erase(object: Stored<Self>) -> Object;
    /// The object, if it has this precision.
    fn of_object(object: &Object) -> Option<&Stored<Self>>;
    /// The object, if it has this precision.
    fn of_object_mut(object: &mut Object) -> Option<&mut Stored<Self>>;
    /// The wave, if it is one of this precision.
    ///
    /// # Errors
    /// [`Error::Precision`] that names the argument `wave`; what is no wave counts as the other precision.
    fn of_wave(object: &Object) -> Result<&Membrane<Self>>;
    /// The operator, if it is one of this precision.
    fn of_operator(object: &Object) -> Option<&Applied<Self>>;
    /// Forgets the precision of an operator.
    fn erase_operator(operator: Applied<Self>) -> AnyOperator;
    /// The values, as a download holds them.
    fn erase_host(host: Host<Self>) -> Download;
}

macro_rules! scalars {
    ($($t:ty => $variant:ident),*) => {$(
        impl Scalar for $t {
            fn erase(object: Stored<$t>) -> Object {
                Object::$variant(object)
            }
            fn of_object(object: &Object) -> Option<&Stored<$t>> {
                if let Object::$variant(stored) = object { Some(stored) } else { None }
            }
            fn of_object_mut(object: &mut Object) -> Option<&mut Stored<$t>> {
                if let Object::$variant(stored) = object { Some(stored) } else { None }
            }
            fn of_wave(object: &Object) -> Result<&Membrane<$t>> {
                match object {
                    Object::Wave(AnyWave::$variant(wave)) => Ok(wave),
                    _ => Err(Error::Precision { argument: "wave", expected: <$t>::PRECISION, got: object.precision() }),
                }
            }
            fn of_operator(object: &Object) -> Option<&Applied<$t>> {
                if let Object::Operator(AnyOperator::$variant(operator)) = object { Some(operator) } else { None }
            }
            fn erase_operator(operator: Applied<$t>) -> AnyOperator {
                AnyOperator::$variant(operator)
            }
            fn erase_host(host: Host<$t>) -> Download {
                Download::$variant(host)
            }
        }
    )*};
}
scalars!(f32 => F32, f64 => F64);

macro_rules! from_object {
    ($($variant:ident),*) => {$(
        impl<T: Scalar> From<$variant<T>> for Object {
            fn from(object: $variant<T>) -> Object {
                T::erase(Stored::$variant(object))
            }
        }
    )*};
}
from_object!(Vector, Dense, Csr, Band);

/// Evaluates the body with `$t` the type of the object's precision.
macro_rules! typed {
    ($object:expr, $t:ident => $body:expr) => {
        match $object.precision() {
            Precision::F32 => {
                type $t = f32;
                $body
            }
            Precision::F64 => {
                type $t = f64;
                $body
            }
        }
    };
}

use operator::Matrix;
use typed;

/// Evaluates the body for the object inside.
macro_rules! each {
    ($stored:expr, $object:ident => $body:expr) => {
        match $stored {
            Stored::Vector($object) => $body,
            Stored::Dense($object) => $body,
            Stored::Csr($object) => $body,
            Stored::Band($object) => $body,
        }
    };
}

impl<T: Real> Stored<T> {
    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Stored::Vector(_) => Kind::Vector,
            Stored::Dense(_) => Kind::Dense,
            Stored::Csr(_) => Kind::Csr,
            Stored::Band(_) => Kind::Band,
        }
    }

    /// Rows and columns; a vector has one column.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Stored::Vector(v) => (v.len(), 1),
            Stored::Dense(a) => (a.rows(), a.cols()),
            Stored::Csr(a) => (a.rows(), a.cols()),
            Stored::Band(a) => (a.rows(), a.cols()),
        }
    }

    /// The object as a vector, which a dense matrix of one row or column is as well.
    ///
    /// # Errors
    /// [`Error::Shape`] that names `argument`.
    pub fn vector(&self, argument: &'static str) -> Result<&Vector<T>> {
        match self {
            Stored::Vector(v) => Ok(v),
            Stored::Dense(a) if a.rows() == 1 || a.cols() == 1 => Ok(a.as_vector()),
            _ => Err(self.no_vector(argument)),
        }
    }

    /// As [`vector`](Stored::vector), to be written.
    ///
    /// # Errors
    /// [`Error::Shape`] that names `argument`.
    pub fn vector_mut(&mut self, argument: &'static str) -> Result<&mut Vector<T>> {
        self.vector(argument)?;
        match self {
            Stored::Vector(v) => Ok(v),
            Stored::Dense(a) => Ok(a.as_vector_mut()),
            _ => Err(self.no_vector(argument)),
        }
    }

    /// The values of a vector or dense matrix, column by column, as a grid function takes them.
    fn full(&self, argument: &'static str) -> Result<&Vector<T>> {
        match self {
            Stored::Vector(v) => Ok(v),
            Stored::Dense(a) => Ok(a.as_vector()),
            _ => Err(self.no_vector(argument)),
        }
    }

    fn full_mut(&mut self, argument: &'static str) -> Result<&mut Vector<T>> {
        match self {
            Stored::Vector(v) => Ok(v),
            Stored::Dense(a) => Ok(a.as_vector_mut()),
            _ => Err(self.no_vector(argument)),
        }
    }

    fn no_vector(&self, argument: &'static str) -> Error {
        Error::Shape {
            argument,
            expected: "a vector, or a dense matrix of one row or column".into(),
            got: self.words(),
        }
    }

    fn no_matrix(&self) -> Error {
        Error::Shape { argument: "a", expected: "a matrix".into(), got: self.words() }
    }

    fn words(&self) -> String {
        let (rows, cols) = self.shape();
        format!("a {rows} x {cols} {}", self.kind().words())
    }
}

impl<T: Real> Values<T> for Stored<T> {
    fn values(&self) -> &Buffer<T> {
        each!(self, a => a.values())
    }

    fn values_mut(&mut self) -> &mut Buffer<T> {
        each!(self, a => a.values_mut())
    }

    fn restore(&self) -> Result<()> {
        each!(self, a => a.restore())
    }

    fn check_same(&self, other: &Self, argument: &'static str) -> Result<()> {
        match (self, other) {
            (Stored::Vector(a), Stored::Vector(b)) => a.check_same(b, argument),
            (Stored::Dense(a), Stored::Dense(b)) => a.check_same(b, argument),
            (Stored::Csr(a), Stored::Csr(b)) => a.check_same(b, argument),
            (Stored::Band(a), Stored::Band(b)) => a.check_same(b, argument),
            (Stored::Vector(_) | Stored::Dense(_), Stored::Vector(_) | Stored::Dense(_))
                if self.shape() == other.shape() =>
            {
                if self.context().same(other.context()) {
                    Ok(())
                } else {
                    Err(Error::Context { argument })
                }
            }
            _ => Err(Error::Shape { argument, expected: self.words(), got: other.words() }),
        }
    }

    fn like(&self) -> Result<Self> {
        Ok(match self {
            Stored::Vector(a) => Stored::Vector(a.like()?),
            Stored::Dense(a) => Stored::Dense(a.like()?),
            Stored::Csr(a) => Stored::Csr(a.like()?),
            Stored::Band(a) => Stored::Band(a.like()?),
        })
    }
}

impl Object {
    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Object::F32(stored) => stored.kind(),
            Object::F64(stored) => stored.kind(),
            Object::Wave(_) => Kind::Wave,
            Object::Operator(_) => Kind::Operator,
        }
    }

    /// Its precision.
    pub fn precision(&self) -> Precision {
        match self {
            Object::F32(_) => Precision::F32,
            Object::F64(_) => Precision::F64,
            Object::Wave(wave) => wave.precision(),
            Object::Operator(operator) => operator.precision(),
        }
    }

    /// The object in the precision `T`.
    ///
    /// # Errors
    /// [`Error::Precision`] that names `argument`.
    pub fn stored<T: Scalar>(&self, argument: &'static str) -> Result<&Stored<T>> {
        T::of_object(self).ok_or(Error::Precision { argument, expected: T::PRECISION, got: self.precision() })
    }

    /// The object in the precision `T`, to be written.
    ///
    /// # Errors
    /// [`Error::Precision`] that names `argument`.
    pub fn stored_mut<T: Scalar>(&mut self, argument: &'static str) -> Result<&mut Stored<T>> {
        let got = self.precision();
        T::of_object_mut(self).ok_or(Error::Precision { argument, expected: T::PRECISION, got })
    }

    /// Its kind, precision and shape.
    pub fn info(&self) -> Info {
        fn of<T: Real>(stored: &Stored<T>) -> Info {
            let (rows, cols) = stored.shape();
            let (kl, ku) = if let Stored::Band(a) = stored { (a.kl(), a.ku()) } else { (0, 0) };
            let entries = if let Stored::Band(_) = stored { 0 } else { stored.values().len() };
            Info { kind: stored.kind(), precision: T::PRECISION, rows, cols, entries, kl, ku }
        }
        match self {
            Object::F32(stored) => of(stored),
            Object::F64(stored) => of(stored),
            Object::Wave(wave) => {
                let side = wave.side();
                let (kind, precision) = (Kind::Wave, wave.precision());
                Info { kind, precision, rows: side, cols: side, entries: 0, kl: 0, ku: 0 }
            }
            Object::Operator(operator) => {
                let (rows, cols) = operator.shape();
                let (kind, precision) = (Kind::Operator, operator.precision());
                Info { kind, precision, rows, cols, entries: 0, kl: 0, ku: 0 }
            }
        }
    }

    /// Forgets what was derived from the values, before they are written through a shared reference.
    fn will_change(&mut self) {
        match self {
            Object::F32(stored) => drop(stored.values_mut()),
            Object::F64(stored) => drop(stored.values_mut()),
            Object::Wave(_) | Object::Operator(_) => {}
        }
    }
}

/// What a handle names, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Info {
    /// The kind of object.
    pub kind: Kind,
    /// Its precision.
    pub precision: Precision,
    /// Number of rows; of a vector its length.
    pub rows: usize,
    /// Number of columns; 1 for a vector.
    pub cols: usize,
    /// Number of stored entries; 0 for a band matrix, which has its diagonals.
    pub entries: usize,
    /// Number of subdiagonals of a band matrix, else 0.
    pub kl: usize,
    /// Number of superdiagonals of a band matrix, else 0.
    pub ku: usize,
}

/// A downloaded object in MATLAB's storage.
#[derive(Debug, Clone, PartialEq)]
pub enum Host<T> {
    /// A vector (one column) or dense matrix: `values[j * rows + i]`.
    Full {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        cols: usize,
        /// The values, column by column.
        values: Vec<T>,
    },
    /// A sparse or band matrix in compressed columns, sorted.
    Sparse {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        cols: usize,
        /// Where each column starts, and the number of entries: `cols + 1` values.
        offsets: Vec<usize>,
        /// The row of each entry.
        indices: Vec<usize>,
        /// The value of each entry.
        values: Vec<T>,
    },
}

/// A downloaded object whose precision is known at run time only.
#[derive(Debug, Clone, PartialEq)]
pub enum Download {
    /// In single precision.
    F32(Host<f32>),
    /// In double precision.
    F64(Host<f64>),
}

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

    fn any(argument: &'static str, handle: u64) -> Operand {
        Operand::new(argument, handle, Kind::ANY)
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

type Cell = Arc<RwLock<Object>>;

/// One place of the table.
struct Slot {
    /// Generation of the first use.
    first: u32,
    /// Uses so far, the present one counted.
    uses: u32,
    /// Kind and precision of the object that is or was here.
    kind: u8,
    cell: Option<Cell>,
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
        let known = Kind::ALL.iter().any(|&k| k as u8 == kind & !DOUBLE);
        if !known || use_number >= slot.uses {
            return fault(HandleFault::Foreign);
        }
        match &slot.cell {
            _ if use_number + 1 < slot.uses => fault(HandleFault::Stale),
            _ if kind != slot.kind => fault(HandleFault::Foreign),
            None => fault(HandleFault::Stale),
            Some(_) if !operand.kinds.iter().any(|&k| k as u8 == kind & !DOUBLE) => fault(HandleFault::Kind),
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

/// A table of device objects with handles; see the [module](self).
pub struct Registry {
    seed: u64,
    table: Mutex<Table>,
}

impl Default for Registry {
    fn default() -> Registry {
        Registry { seed: rand::random(), table: Mutex::default() }
    }
}

static GLOBAL: Lazy<Registry> = Lazy::new(Registry::default);

/// An object locked for a call.
enum Guard<'a> {
    Read(RwLockReadGuard<'a, Object>),
    Write(RwLockWriteGuard<'a, Object>),
}

impl Guard<'_> {
    fn object(&self) -> &Object {
        match self {
            Guard::Read(guard) => guard,
            Guard::Write(guard) => guard,
        }
    }
}

/// The objects of a call, each once, in the order of their slots.
struct Cells(Vec<(u64, bool, Cell)>);

impl Cells {
    /// Locks all. The order is the same in every call, so that two calls cannot wait for each other.
    fn lock(&self) -> Vec<Guard<'_>> {
        // A panic while an object was locked leaves it as usable as the device left its values.
        let lock = |write: bool, cell| match write {
            true => Guard::Write(RwLock::write(cell).unwrap_or_else(PoisonError::into_inner)),
            false => Guard::Read(RwLock::read(cell).unwrap_or_else(PoisonError::into_inner)),
        };
        self.0.iter().map(|(_, write, cell)| lock(*write, cell)).collect()
    }

    fn position(&self, operand: &Operand) -> usize {
        self.0.iter().position(|(handle, ..)| *handle == operand.handle).expect("every operand was looked up")
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
        let object = object.into();
        let kind = object.kind() as u8 | if object.precision() == Precision::F64 { DOUBLE } else { 0 };
        let cell = Some(Arc::new(RwLock::new(object)));
        let mut table = self.table();
        table.live += 1;
        let index = match table.free.pop() {
            Some(index) => index,
            None => {
                let index = u32::try_from(table.slots.len()).expect("2^32 objects do not fit any memory");
                let first = mixed(self.seed.wrapping_add(u64::from(index))) % GENERATIONS;
                table.slots.push(Slot { first, uses: 0, kind, cell: None });
                index
            }
        };
        let slot = &mut table.slots[index as usize];
        let generation = slot.first.wrapping_add(slot.uses) % GENERATIONS;
        slot.uses += 1;
        slot.kind = kind;
        slot.cell = cell;
        u64::from(kind) << 56 | u64::from(generation) << 32 | u64::from(index)
    }

    /// Frees the object of one of `kinds`; a call that uses it in another thread ends first.
    ///
    /// # Errors
    /// [`Error::Handle`], which harms nothing: a second release is [`HandleFault::Stale`].
    pub fn release(&self, handle: u64, kinds: &'static [Kind]) -> Result<()> {
        let mut table = self.table();
        table.find(&Operand::new("handle", handle, kinds))?;
        let cell = table.clear(handle as u32);
        // The device memory goes after the table is free for others.
        drop(table);
        drop(cell);
        Ok(())
    }

    /// Frees all objects and says how many; every handle given out so far is stale then.
    pub fn release_all(&self) -> usize {
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
        self.with(handle, Object::info)
    }

    /// Calls `f` with the object, which other threads may read meanwhile and not write. `f` must not use the registry.
    ///
    /// # Errors
    /// [`Error::Handle`].
    pub fn with<R>(&self, handle: u64, f: impl FnOnce(&Object) -> R) -> Result<R> {
        self.call(&[Operand::new("handle", handle, Kind::ALL)], None, |inputs, _| Ok(f(inputs[0])))
    }

    /// Calls `f` with the objects of `inputs`, in their order, and the one of `output` to be written. `f` must not use
    /// the registry.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] when the output is one of the inputs; those of `f`.
    pub fn call<R>(
        &self,
        inputs: &[Operand],
        output: Option<Operand>,
        f: impl FnOnce(&[&Object], Option<&mut Object>) -> Result<R>,
    ) -> Result<R> {
        let cells = self.cells(inputs, output.as_ref())?;
        if let Some(o) = output
            && let Some(i) = inputs.iter().find(|i| i.handle == o.handle)
        {
            let expected = format!("another object than argument `{}`", i.argument);
            return Err(Error::value(o.argument, expected, format!("handle {:#018x}", o.handle)));
        }
        let mut guards = cells.lock();
        let mut written = output.as_ref().map(|o| cells.position(o)).map(|at| (at, guards.remove(at)));
        let behind = |at: usize| written.as_ref().is_some_and(|(out, _)| *out < at);
        let inputs: Vec<_> = inputs
            .iter()
            .map(|input| cells.position(input))
            .map(|at| guards[at - usize::from(behind(at))].object())
            .collect();
        match &mut written {
            Some((_, Guard::Write(object))) => f(&inputs, Some(object)),
            _ => f(&inputs, None),
        }
    }

    /// As [`call`](Registry::call) for operations whose output may be an input: only the device writes it.
    fn call_aliased<R>(
        &self,
        inputs: &[Operand],
        output: Option<Operand>,
        f: impl FnOnce(&[&Object], Option<&Object>) -> Result<R>,
    ) -> Result<R> {
        let cells = self.cells(inputs, output.as_ref())?;
        let mut guards = cells.lock();
        for guard in &mut guards {
            if let Guard::Write(object) = guard {
                object.will_change();
            }
        }
        let object = |operand: &Operand| guards[cells.position(operand)].object();
        let inputs: Vec<_> = inputs.iter().map(object).collect();
        f(&inputs, output.as_ref().map(object))
    }

    /// Looks the operands up.
    fn cells(&self, inputs: &[Operand], output: Option<&Operand>) -> Result<Cells> {
        let table = self.table();
        let mut cells: Vec<(u64, bool, Cell)> = Vec::with_capacity(inputs.len() + 1);
        let operands = inputs.iter().map(|i| (i, false)).chain(output.map(|o| (o, true)));
        for (operand, write) in operands {
            let cell = table.find(operand)?;
            match cells.iter_mut().find(|(handle, ..)| *handle == operand.handle) {
                Some((_, writes, _)) => *writes |= write,
                None => cells.push((operand.handle, write, cell.clone())),
            }
        }
        cells.sort_by_key(|(handle, ..)| *handle as u32);
        Ok(Cells(cells))
    }

    /// Uploads a vector.
    ///
    /// # Errors
    /// Those of [`Vector::from_slice`].
    pub fn upload_vector<T: Scalar>(&self, context: &Context, values: &[T]) -> Result<u64> {
        Ok(self.insert(Vector::from_slice(context, values)?))
    }

    /// Uploads a dense matrix, column by column.
    ///
    /// # Errors
    /// Those of [`Dense::from_column_major`].
    pub fn upload_dense<T: Scalar>(&self, context: &Context, rows: usize, cols: usize, values: &[T]) -> Result<u64> {
        Ok(self.insert(Dense::from_column_major(context, rows, cols, values)?))
    }

    /// Uploads a sparse matrix in compressed rows.
    ///
    /// # Errors
    /// Those of [`Csr::from_csr`].
    pub fn upload_csr<T: Scalar>(
        &self,
        context: &Context,
        (rows, cols): (usize, usize),
        offsets: &[usize],
        indices: &[usize],
        values: &[T],
    ) -> Result<u64> {
        Ok(self.insert(Csr::from_csr(context, rows, cols, offsets, indices, values)?))
    }

    /// Uploads a sparse matrix in compressed columns (MATLAB's form).
    ///
    /// # Errors
    /// Those of [`Csr::from_csc`].
    pub fn upload_csc<T: Scalar>(
        &self,
        context: &Context,
        (rows, cols): (usize, usize),
        offsets: &[usize],
        indices: &[usize],
        values: &[T],
    ) -> Result<u64> {
        Ok(self.insert(Csr::from_csc(context, rows, cols, offsets, indices, values)?))
    }

    /// Uploads a band matrix of `kl` sub- and `ku` superdiagonals from its full form, column by column.
    ///
    /// # Errors
    /// Those of [`Band::from_column_major`].
    pub fn upload_band<T: Scalar>(
        &self,
        context: &Context,
        shape: (usize, usize),
        (kl, ku): (usize, usize),
        values: &[T],
    ) -> Result<u64> {
        Ok(self.insert(Band::from_column_major(context, shape, (kl, ku), values)?))
    }

    /// Uploads a band matrix of `kl` sub- and `ku` superdiagonals from compressed columns.
    ///
    /// # Errors
    /// Those of [`Csr::from_csc`] and [`Band::from_csr`].
    pub fn upload_band_csc<T: Scalar>(
        &self,
        context: &Context,
        (rows, cols): (usize, usize),
        (kl, ku): (usize, usize),
        offsets: &[usize],
        indices: &[usize],
        values: &[T],
    ) -> Result<u64> {
        let parts = CsrParts::from_csc(rows, cols, offsets, indices, values)?;
        Ok(self.insert(Band::from_csr(context, &parts, kl, ku)?))
    }

    /// The object in MATLAB's storage: full, or compressed columns for sparse and band matrices.
    ///
    /// # Errors
    /// [`Error::Handle`] and those of the transfer.
    pub fn download(&self, handle: u64) -> Result<Download> {
        self.call(&[Operand::any("handle", handle)], None, |inputs, _| {
            typed!(inputs[0], T => {
                let stored = inputs[0].stored::<T>("handle")?;
                let (rows, cols) = stored.shape();
                let sparse = |parts: CsrParts<T>| -> Result<Host<T>> {
                    let CsrParts { offsets, indices, values, .. } = parts.transpose()?;
                    Ok(Host::Sparse { rows, cols, offsets, indices, values })
                };
                let host = match stored {
                    Stored::Vector(_) | Stored::Dense(_) => {
                        Host::Full { rows, cols, values: stored.values().to_vec()? }
                    }
                    Stored::Csr(a) => sparse(a.to_parts()?)?,
                    Stored::Band(a) => sparse(BandParts::to_csr(&a.to_parts()?)?)?,
                };
                Ok(T::erase_host(host))
            })
        })
    }

    /// Copies values of a vector or dense matrix (column by column), from `offset` on, to `target`.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`], [`Error::Value`] when the range leaves the object.
    pub fn read<T: Scalar>(&self, handle: u64, offset: usize, target: &mut [T]) -> Result<()> {
        self.call(&[Operand::new("handle", handle, Kind::FULL)], None, |inputs, _| {
            inputs[0].stored::<T>("handle")?.values().read_range(offset, target)
        })
    }

    /// Replaces values of a vector or dense matrix (column by column), from `offset` on.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`], [`Error::Value`] when the range leaves the object.
    pub fn write<T: Scalar>(&self, handle: u64, offset: usize, values: &[T]) -> Result<()> {
        self.call(&[], Some(Operand::new("handle", handle, Kind::FULL)), |_, output| match output {
            Some(object) => object.stored_mut::<T>("handle")?.values_mut().write_range(offset, values),
            None => Ok(()),
        })
    }

    /// y = alpha A x + beta y into `y`, or alpha A x into a new vector; gives the handle of the result.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`], [`Error::Length`], [`Error::Shape`] or [`Error::Context`] that names the
    /// argument; [`Error::Value`] when `y` is `a` or `x`.
    pub fn mv(&self, alpha: f64, a: u64, x: u64, beta: f64, y: Option<u64>) -> Result<u64> {
        self.product(Kind::MATRIX, false, alpha, a, x, beta, y)
    }

    /// As [`mv`](Registry::mv) with the transpose of a dense or sparse matrix.
    ///
    /// # Errors
    /// As [`mv`](Registry::mv).
    pub fn mv_transposed(&self, alpha: f64, a: u64, x: u64, beta: f64, y: Option<u64>) -> Result<u64> {
        self.product(Kind::TRANSPOSED, true, alpha, a, x, beta, y)
    }

    /// Y = alpha A X + beta Y for dense X and Y into `y`, or alpha A X into a new dense matrix; gives the handle of the
    /// result.
    ///
    /// # Errors
    /// As [`mv`](Registry::mv).
    pub fn mm(&self, alpha: f64, a: u64, x: u64, beta: f64, y: Option<u64>) -> Result<u64> {
        let inputs = [Operand::new("a", a, Kind::ENTRIES), Operand::new("x", x, Kind::COLUMNS)];
        let output = y.map(|y| Operand::new("y", y, Kind::COLUMNS));
        let made = self.call(&inputs, output, |inputs, output| {
            typed!(inputs[0], T => {
                let a = inputs[0].stored::<T>("a")?;
                let Stored::Dense(x) = inputs[1].stored::<T>("x")? else { unreachable!("x is dense") };
                let product = |beta: f64, y: &mut Dense<T>| {
                    let (alpha, beta) = (T::of(alpha), T::of(beta));
                    match a {
                        Stored::Dense(a) => ops::mm(alpha, a, x, beta, y),
                        Stored::Csr(a) => ops::mm(alpha, a, x, beta, y),
                        Stored::Band(a) => ops::mm(alpha, a, x, beta, y),
                        Stored::Vector(_) => Err(a.no_matrix()),
                    }
                };
                match output {
                    Some(y) => {
                        let Stored::Dense(y) = y.stored_mut::<T>("y")? else { unreachable!("y is dense") };
                        product(beta, y)?;
                        Ok(None)
                    }
                    None => {
                        let mut y = Dense::zeros(x.context(), a.shape().0, x.cols())?;
                        product(0.0, &mut y)?;
                        Ok(Some(Object::from(y)))
                    }
                }
            })
        })?;
        Ok(self.result(made, y))
    }

    #[allow(clippy::too_many_arguments)]
    fn product(
        &self,
        kinds: &'static [Kind],
        transposed: bool,
        alpha: f64,
        a: u64,
        x: u64,
        beta: f64,
        y: Option<u64>,
    ) -> Result<u64> {
        let inputs = [Operand::new("a", a, kinds), Operand::new("x", x, Kind::FULL)];
        let output = y.map(|y| Operand::new("y", y, Kind::FULL));
        let made = self.call(&inputs, output, |inputs, output| {
            typed!(inputs[0], T => {
                let a = inputs[0].matrix::<T>("a")?;
                let x = inputs[1].stored::<T>("x")?.vector("x")?;
                let product = |beta: f64, y: &mut Vector<T>| {
                    let (alpha, beta) = (T::of(alpha), T::of(beta));
                    match a {
                        Matrix::Stored(Stored::Dense(a)) if transposed => ops::mv_transposed(alpha, a, x, beta, y),
                        Matrix::Stored(Stored::Csr(a)) if transposed => ops::mv_transposed(alpha, a, x, beta, y),
                        a => ops::mv(alpha, a.operator()?, x, beta, y),
                    }
                };
                match output {
                    Some(y) => {
                        product(beta, y.stored_mut::<T>("y")?.vector_mut("y")?)?;
                        Ok(None)
                    }
                    None => {
                        let (rows, cols) = a.shape();
                        let mut y = Vector::uninit(x.context(), if transposed { cols } else { rows })?;
                        product(0.0, &mut y)?;
                        Ok(Some(Object::from(y)))
                    }
                }
            })
        })?;
        Ok(self.result(made, y))
    }

    /// The handle of the object made, else the one given.
    fn result(&self, made: Option<Object>, given: Option<u64>) -> u64 {
        match (made, given) {
            (None, Some(handle)) => handle,
            (Some(object), _) => self.insert(object),
            (None, None) => unreachable!("a call writes its output or makes one"),
        }
    }

    /// `op` on the values of `inputs` (one or two) into `out`, which may be one of them, or into a new object.
    fn elementwise(&self, op: Op, inputs: &[(&'static str, u64)], out: Option<u64>) -> Result<u64> {
        let operands: Vec<_> = inputs.iter().map(|&(argument, handle)| Operand::any(argument, handle)).collect();
        let output = out.map(|handle| Operand::any("out", handle));
        let made = self.call_aliased(&operands, output, |objects, output| {
            typed!(objects[0], T => {
                let x = objects[0].stored::<T>(inputs[0].0)?;
                let y = match objects.get(1) {
                    Some(y) => {
                        let y = y.stored::<T>(inputs[1].0)?;
                        x.check_same(y, inputs[1].0)?;
                        y
                    }
                    None => x,
                };
                match output {
                    Some(out) => {
                        let out = out.stored::<T>("out")?;
                        x.check_same(out, "out")?;
                        op.run(x, y, out)?;
                        Ok(None)
                    }
                    None => {
                        let out = x.like()?;
                        op.run(x, y, &out)?;
                        Ok(Some(T::erase(out)))
                    }
                }
            })
        })?;
        Ok(self.result(made, out))
    }

    /// a + b on the values of any two objects of the same structure; `out` may be one of them, `None` makes a new one.
    ///
    /// # Errors
    /// Any of the elementwise operations: [`Error::Handle`], [`Error::Precision`], [`Error::Length`], [`Error::Shape`]
    /// or [`Error::Context`] that names the argument which does not fit the first.
    pub fn plus(&self, a: u64, b: u64, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::Axpby(1.0, 1.0), &[("a", a), ("b", b)], out)
    }

    /// a - b.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn minus(&self, a: u64, b: u64, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::Axpby(1.0, -1.0), &[("a", a), ("b", b)], out)
    }

    /// a - c b.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn minus_scaled(&self, a: u64, b: u64, c: f64, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::Axpby(1.0, -c), &[("a", a), ("b", b)], out)
    }

    /// alpha x + beta y.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn axpby(&self, alpha: f64, x: u64, beta: f64, y: u64, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::Axpby(alpha, beta), &[("x", x), ("y", y)], out)
    }

    /// c a.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn times_constant(&self, a: u64, c: f64, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::Scale(c), &[("a", a)], out)
    }

    /// a .* b, element by element.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn multiply(&self, a: u64, b: u64, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::Multiply, &[("a", a), ("b", b)], out)
    }

    /// A copy of `a`; a copy onto itself does nothing.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn copy(&self, a: u64, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::Copy, &[("a", a)], out)
    }

    /// Sets every stored value to `value`.
    ///
    /// # Errors
    /// [`Error::Handle`].
    pub fn fill(&self, handle: u64, value: f64) -> Result<()> {
        self.call(&[], Some(Operand::any("handle", handle)), |_, output| match output {
            Some(Object::F32(stored)) => ops::fill(f32::of(value), stored),
            Some(Object::F64(stored)) => ops::fill(value, stored),
            Some(Object::Wave(_) | Object::Operator(_)) | None => unreachable!("an output was named that has values"),
        })
    }

    /// A new vector with the values of `range` of a vector or dense matrix (column by column).
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] when the range leaves the object.
    pub fn slice(&self, handle: u64, range: Range<usize>) -> Result<u64> {
        let made = self.call(&[Operand::new("handle", handle, Kind::FULL)], None, |inputs, _| {
            typed!(inputs[0], T => {
                let source = inputs[0].stored::<T>("handle")?.values();
                source.check_inside(&range)?;
                let mut part = Vector::<T>::uninit(source.context(), range.len())?;
                part.buffer_mut().copy_range(0, source, range)?;
                Ok(Object::from(part))
            })
        })?;
        Ok(self.insert(made))
    }

    /// Replaces the values of a vector or dense matrix (column by column) from `offset` on by all those of `source`.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`], [`Error::Context`]; [`Error::Value`] when they do not fit or `source` is
    /// `target`.
    pub fn write_slice(&self, target: u64, offset: usize, source: u64) -> Result<()> {
        let output = Operand::new("target", target, Kind::FULL);
        self.call(&[Operand::new("source", source, Kind::FULL)], Some(output), |inputs, output| {
            let Some(output) = output else { return Ok(()) };
            typed!(output, T => {
                let source = inputs[0].stored::<T>("source")?.values();
                output.stored_mut::<T>("target")?.values_mut().copy_range(offset, source, 0..source.len())
            })
        })
    }

    /// Sum of the stored values.
    ///
    /// # Errors
    /// [`Error::Handle`].
    pub fn sum(&self, a: u64) -> Result<f64> {
        self.reduce(a, ops::sum, ops::sum)
    }

    /// Sum of the magnitudes of the stored values.
    ///
    /// # Errors
    /// [`Error::Handle`].
    pub fn norm1(&self, a: u64) -> Result<f64> {
        self.reduce(a, ops::norm1, ops::norm1)
    }

    /// Euclidean norm of the stored values.
    ///
    /// # Errors
    /// [`Error::Handle`].
    pub fn norm2(&self, a: u64) -> Result<f64> {
        self.reduce(a, ops::norm2, ops::norm2)
    }

    /// Largest magnitude of the stored values.
    ///
    /// # Errors
    /// [`Error::Handle`].
    pub fn norm_inf(&self, a: u64) -> Result<f64> {
        self.reduce(a, ops::norm_inf, ops::norm_inf)
    }

    fn reduce(
        &self,
        a: u64,
        single: impl FnOnce(&Stored<f32>) -> Result<f32>,
        double: impl FnOnce(&Stored<f64>) -> Result<f64>,
    ) -> Result<f64> {
        self.call(&[Operand::any("a", a)], None, |inputs, _| match inputs[0] {
            Object::F32(a) => single(a).map(f64::from),
            Object::F64(a) => double(a),
            Object::Wave(_) | Object::Operator(_) => unreachable!("what has no values was refused"),
        })
    }

    /// Dot product of the stored values.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn dot(&self, a: u64, b: u64) -> Result<f64> {
        self.call(&[Operand::any("a", a), Operand::any("b", b)], None, |inputs, _| {
            typed!(inputs[0], T => {
                let (a, b) = (inputs[0].stored::<T>("a")?, inputs[1].stored::<T>("b")?);
                ops::dot(a, b).map(T::wide)
            })
        })
    }
}

/// An elementwise operation.
#[derive(Clone, Copy)]
enum Op {
    Axpby(f64, f64),
    Scale(f64),
    Multiply,
    Copy,
}

impl Op {
    /// Enqueues the operation on objects of one structure; `out` may be one of the others.
    fn run<T: Scalar>(self, x: &Stored<T>, y: &Stored<T>, out: &Stored<T>) -> Result<()> {
        let (a, b, c) = (x.values(), y.values(), out.values());
        match self {
            Op::Axpby(alpha, beta) => {
                let (alpha, beta) = (T::of(alpha), T::of(beta));
                axpby_raw(alpha, a, beta, b, c)?;
                settle(out, &[alpha, beta])
            }
            Op::Scale(alpha) => {
                let alpha = T::of(alpha);
                scale_raw(alpha, a, c)?;
                settle(out, &[alpha])
            }
            Op::Multiply => multiply_raw(a, b, c),
            Op::Copy if std::ptr::eq(x, out) => Ok(()),
            Op::Copy => scale_raw(T::one(), a, c),
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
    use crate::runtime::devices;

    #[test]
    fn a_slot_without_generations_left_is_retired() {
        let Ok(devices) = devices() else {
            eprintln!("skipped: no OpenCL device");
            return;
        };
        let context = Context::new(&devices[0], &crate::ContextOptions::default()).unwrap();
        let registry = Registry::new();
        let first = registry.upload_vector(&context, &[1.0_f32]).unwrap();
        registry.release(first, Kind::ANY).unwrap();
        // All but the last use are behind it.
        registry.table().slots[0].uses = GENERATIONS - 1;
        let last = registry.upload_vector(&context, &[2.0_f32]).unwrap();
        assert_eq!((last as u32, registry.table().slots[0].uses), (0, GENERATIONS));
        // The generation after the last would be the first again.
        assert_eq!(((last >> 32) as u32 + 1) % GENERATIONS, (first >> 32) as u32 % GENERATIONS);
        assert_eq!(registry.sum(last).unwrap(), 2.0);
        registry.release(last, Kind::ANY).unwrap();
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
