//! Launch ranges and arguments.

use std::ffi::c_void;
use std::marker::PhantomData;

use super::buffer::Buffer;
use crate::element::{Element, Value};
use crate::{Precision, Real, Scalar};

/// How many work-items run, and in groups of how many.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    pub(super) dims: u32,
    pub(super) global: [usize; 2],
    pub(super) local: [usize; 2],
}

impl Range {
    /// At least `items` work-items in groups of `local`; OpenCL C 1.2 wants whole groups.
    pub fn d1(items: usize, local: usize) -> Range {
        Range { dims: 1, global: [items.div_ceil(local) * local, 1], local: [local, 1] }
    }

    /// At least `items[0]` by `items[1]` work-items in groups of `local`.
    pub fn d2(items: [usize; 2], local: [usize; 2]) -> Range {
        let up = |k: usize| items[k].div_ceil(local[k]) * local[k];
        Range { dims: 2, global: [up(0), up(1)], local }
    }

    /// So many times as many, in the second direction.
    pub(crate) fn times(mut self, count: usize) -> Range {
        self.dims = 2;
        self.global[1] = count;
        self
    }

    /// Work-items in the first direction.
    pub(crate) fn items(&self) -> usize {
        self.global[0]
    }

    /// Work-groups.
    pub(crate) fn groups(&self) -> usize {
        self.global[0] / self.local[0] * (self.global[1] / self.local[1])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.global[0] == 0 || self.global[1] == 0
    }
}

/// A kernel argument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arg {
    /// Device memory; made by [`Buffer::arg`](super::Buffer::arg).
    Mem(Mem),
    /// `uint`.
    U32(u32),
    /// `ulong`.
    U64(u64),
    /// `float`.
    F32(f32),
    /// `double`.
    F64(f64),
    /// `float2`: a complex value.
    F32x2([f32; 2]),
    /// `double2`: a complex value.
    F64x2([f64; 2]),
    /// So many bytes of `__local` memory.
    Local(usize),
}

/// A memory object as an argument; alive as long as the buffer it came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mem(pub(super) *mut c_void);

impl Arg {
    /// A count or index (`ulong` in the kernel).
    pub fn size(value: usize) -> Arg {
        Arg::U64(value as u64)
    }

    /// A value of the precision `T` (`REAL` in the kernel).
    pub fn real<T: Real>(value: f64) -> Arg {
        match T::PRECISION {
            Precision::F32 => Arg::F32(value as f32),
            Precision::F64 => Arg::F64(value),
        }
    }

    /// Size and address as `clSetKernelArg` takes them.
    pub(super) fn raw(&self) -> (usize, *const c_void) {
        fn of<T>(value: &T) -> (usize, *const c_void) {
            (size_of::<T>(), std::ptr::from_ref(value).cast())
        }
        match self {
            Arg::Mem(m) => of(&m.0),
            Arg::U32(v) => of(v),
            Arg::U64(v) => of(v),
            Arg::F32(v) => of(v),
            Arg::F64(v) => of(v),
            Arg::F32x2(v) => of(v),
            Arg::F64x2(v) => of(v),
            Arg::Local(bytes) => (*bytes, std::ptr::null()),
        }
    }
}

impl Value {
    /// The value as an argument.
    pub(crate) fn arg(self) -> Arg {
        match self {
            Value::U32(v) => Arg::U32(v),
            Value::U64(v) => Arg::U64(v),
            Value::F32(v) => Arg::F32(v),
            Value::F64(v) => Arg::F64(v),
            Value::F32x2(v) => Arg::F32x2(v),
            Value::F64x2(v) => Arg::F64x2(v),
        }
    }
}

/// A value as an argument.
pub fn argument<E: Element>(value: E) -> Arg {
    value.value().arg()
}

/// Memory that a kernel reads (`__global const E *` or `__constant E *`).
#[derive(Debug, Clone, Copy)]
pub struct In<'a, E> {
    arg: Arg,
    memory: PhantomData<&'a [E]>,
}

/// Memory that a kernel writes, and may read (`__global E *`).
#[derive(Debug, Clone, Copy)]
pub struct Out<'a, E> {
    arg: Arg,
    memory: PhantomData<&'a [E]>,
}

impl<E> In<'_, E> {
    pub(super) fn new(arg: Arg) -> Self {
        In { arg, memory: PhantomData }
    }

    /// The memory as a kernel argument.
    pub fn arg(self) -> Arg {
        self.arg
    }
}

impl<'a, R: Real> In<'a, R> {
    /// The real and imaginary parts of the values, one after the other; the values themselves for a real type.
    pub(crate) fn parts<T: Scalar<Real = R>>(buffer: &'a Buffer<T>) -> In<'a, R> {
        In::new(buffer.arg())
    }
}

impl<'a, T: Scalar> In<'a, T> {
    /// As [`In::parts`] of the memory.
    pub(crate) fn as_parts(self) -> In<'a, T::Real> {
        In::new(self.arg)
    }
}

impl<'a, T: Scalar> Out<'a, T> {
    /// As [`Out::parts`] of the memory.
    pub(crate) fn as_parts(self) -> Out<'a, T::Real> {
        Out::new(self.arg)
    }
}

impl<'a, R: Real> Out<'a, R> {
    /// As [`In::parts`]; written through a shared borrow as with [`Out::shared`].
    pub(crate) fn parts<T: Scalar<Real = R>>(buffer: &'a Buffer<T>) -> Out<'a, R> {
        Out { arg: buffer.arg(), memory: PhantomData }
    }
}

impl<E> Out<'_, E> {
    pub(super) fn new(arg: Arg) -> Self {
        Out { arg, memory: PhantomData }
    }

    /// The memory as a kernel argument.
    pub fn arg(self) -> Arg {
        self.arg
    }
}

impl<E: Element> Out<'static, E> {
    /// Memory whose borrow ends before the launch: whoever has it keeps the buffer alive and unshared until then.
    pub(crate) fn unbound(buffer: &Buffer<E>) -> Out<'static, E> {
        Out::new(buffer.arg())
    }
}

impl<'a, E: Element> Out<'a, E> {
    /// Memory that is written through a shared borrow: for operations whose output may be one of their inputs, and for
    /// parts of a buffer that nobody else writes.
    pub fn shared(buffer: &'a Buffer<E>) -> Out<'a, E> {
        Out { arg: buffer.arg(), memory: PhantomData }
    }

    /// The same memory as an input: for kernels that read and write each element in one work-item only.
    pub fn as_input(self) -> In<'a, E> {
        In::new(self.arg)
    }

    /// The same memory as elements of another type of the kernel's.
    pub(crate) fn cast<F: Element>(self) -> Out<'a, F> {
        Out { arg: self.arg, memory: PhantomData }
    }
}

impl<'a, E: Element> From<&'a Buffer<E>> for In<'a, E> {
    fn from(buffer: &'a Buffer<E>) -> In<'a, E> {
        In::new(buffer.arg())
    }
}

impl<'a> From<&'a Buffer<usize>> for In<'a, u64> {
    fn from(buffer: &'a Buffer<usize>) -> In<'a, u64> {
        In::new(buffer.arg())
    }
}

impl<'a, E: Element> From<&'a mut Buffer<E>> for Out<'a, E> {
    fn from(buffer: &'a mut Buffer<E>) -> Out<'a, E> {
        Out::shared(buffer)
    }
}
