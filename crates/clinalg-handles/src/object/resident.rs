//! Small arrays in the memory of the host, whose copy on the device is made when a call needs it.

use std::any::Any;

use clinalg::{Context, Dense, KernelFamily, Result, Scalar, Vector};

use super::{Content, Object, Stored};
use crate::kind::{Info, Kind, ScalarType};

/// Elements up to which full objects stay on the host beside a device. PoCL 3.1 on two cores takes as long for sums and exponentials of 32768
/// elements. The number for GPUs is an estimate from the microseconds that the start of a kernel and a transfer take.
fn limit(context: &Context) -> usize {
    match context.family() {
        KernelFamily::Cpu => LIMIT,
        KernelFamily::Gpu => 1 << 13,
    }
}

/// The largest limit.
pub(crate) const LIMIT: usize = 1 << 15;

/// A full object whose values are on the host only.
#[derive(Debug)]
pub(crate) struct Resident {
    info: Info,
    pub(crate) context: Context,
}

impl Content for Resident {
    fn info(&self) -> Info {
        self.info
    }
}

/// The values of an object on the host.
pub(super) type HostValues = Box<dyn Any + Send + Sync>;

/// Whether an object is a vector or dense matrix that stays on the host in a context.
pub(crate) fn is_small(info: &Info, context: &Context) -> bool {
    Kind::FULL.contains(&info.kind) && info.entries <= LIMIT && info.entries <= limit(context)
}

impl Object {
    /// A vector or dense matrix with these values, column by column: on the host if it is small, else on the device.
    ///
    /// # Errors
    /// Those of [`Vector::from_slice`] and [`Dense::from_column_major`].
    pub(crate) fn full<T: Scalar>(
        context: &Context,
        kind: Kind,
        (rows, cols): (usize, usize),
        values: impl Into<Vec<T>> + AsRef<[T]>,
    ) -> Result<Object> {
        let own = values.as_ref();
        let info = Info { entries: own.len(), ..Info::new(kind, ScalarType::of::<T>(), rows, cols) };
        if is_small(&info, context) && rows * cols == own.len() {
            context.require::<T>()?;
            let object = Object::from(Resident { info, context: context.clone() });
            let values: HostValues = Box::<Vec<T>>::new(values.into());
            object.host.set(values).expect("a new object has no values");
            return Ok(object);
        }
        Ok(match kind {
            Kind::Vector => Vector::from_slice(context, own)?.into(),
            _ => Dense::from_column_major(context, rows, cols, own)?.into(),
        })
    }

    /// As [`full`](Object::full) in the context of this full object.
    pub(crate) fn full_like<T: Scalar>(&self, kind: Kind, shape: (usize, usize), values: Vec<T>) -> Result<Object> {
        Object::full(&self.context().expect("a full object has a context"), kind, shape, values)
    }

    /// A dense matrix, as [`full_like`](Object::full_like).
    pub(crate) fn dense_like<T: Scalar>(&self, shape: (usize, usize), values: Vec<T>) -> Result<Object> {
        self.full_like(Kind::Dense, shape, values)
    }

    /// The context of a full object.
    pub(crate) fn context(&self) -> Option<Context> {
        match (self.content(), self.pending()) {
            (Some(Resident { context, .. }), _) => Some(context.clone()),
            (None, Some(pending)) => Some(pending.context.clone()),
            (None, None) => {
                super::typed!(self, T => self.content().map(|stored: &Stored<T>| stored.context().clone()))
            }
        }
    }

    /// Whether it is a vector or dense matrix that stays on the host.
    pub(crate) fn is_small(&self) -> bool {
        self.context().is_some_and(|context| is_small(&self.info(), &context))
    }

    /// Whether the values are on the host only.
    pub(crate) fn is_resident(&self) -> bool {
        self.content::<Resident>().is_some()
    }

    /// Whether the values are on the host.
    pub(crate) fn has_host_values(&self) -> bool {
        self.host.get().is_some()
    }

    /// The values that are on the host, column by column.
    pub(crate) fn host_values<T: Scalar>(&self) -> Option<&[T]> {
        self.host.get()?.downcast_ref::<Vec<T>>().map(Vec::as_slice)
    }

    /// Reads the values of a small full object, which then are on the host until the object is written.
    pub(crate) fn fetch(&self) -> Result<()> {
        super::typed!(self, T => {
            self.host.get_or_try_init(|| -> Result<HostValues> {
                Ok(Box::new(self.stored::<T>("a")?.full("a")?.to_vec()?))
            })
        })?;
        Ok(())
    }

    /// Makes the copy on the device; the values on the host stay.
    pub(crate) fn upload(&mut self) -> Result<()> {
        let Some(Resident { info, context }) = self.content() else { return Ok(()) };
        let content = super::typed!(self, T => {
            let values = self.host_values::<T>().expect("a resident object has values");
            let stored: Box<dyn Content> = match info.kind {
                Kind::Vector => Box::new(Stored::Vector(Vector::from_slice(context, values)?)),
                _ => Box::new(Stored::Dense(Dense::from_column_major(context, info.rows, info.cols, values)?)),
            };
            stored
        });
        self.content = content;
        Ok(())
    }
}
