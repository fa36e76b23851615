//! Operators behind handles.

use std::marker::PhantomData;

use clinalg::solve::Operator;
use clinalg::{Context, Dense, Error, Result, Scalar, Vector, ops};

use crate::kind::Kind;
use crate::object::{Applied, Object};
use crate::registry::{Operand, Registry};

/// A product A x that a caller computes: from the vector of the first handle into that of the second. It may read what the call that runs
/// reads.
pub type Product = Box<dyn Fn(u64, u64) -> Result<()> + Send>;

/// An operator whose product a caller computes.
struct CallbackOperator<T: Scalar> {
    registry: &'static Registry,
    context: Context,
    rows: usize,
    cols: usize,
    /// Vectors that the product is given.
    x: u64,
    y: u64,
    product: Product,
    scalar: PhantomData<fn() -> T>,
}

impl<T: Scalar> Drop for CallbackOperator<T> {
    fn drop(&mut self) {
        for handle in [self.x, self.y] {
            // Stale where all objects are released.
            let _ = self.registry.release(handle, Kind::VALUES);
        }
    }
}

impl<T: Scalar> Operator<T> for CallbackOperator<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn cols(&self) -> usize {
        self.cols
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        for (argument, expected, got) in [("x", self.cols, x.len()), ("y", self.rows, y.len())] {
            if expected != got {
                return Err(Error::Length { argument, expected, got });
            }
        }
        for (argument, context) in [("x", x.context()), ("y", y.context())] {
            if !context.same(&self.context) {
                return Err(Error::Context { argument });
            }
        }
        self.registry.call(&[], Some(Operand::new("x", self.x, Kind::FULL)), |_, given| {
            ops::copy(x, given.expect("an output was named").stored_mut::<T>("x")?.vector_mut("x")?)
        })?;
        (self.product)(self.x, self.y)?;
        self.registry.call(&[Operand::new("y", self.y, Kind::FULL)], None, |inputs, _| {
            let product = inputs[0].stored::<T>("y")?.vector("y")?;
            match beta.is_zero() {
                // What y holds before is not read.
                true => ops::scale(alpha, product, y),
                false => ops::update(alpha, product, beta, y),
            }
        })
    }
}

impl Object {
    /// An operator, its type forgotten.
    pub(super) fn operator<T: Scalar>(operator: impl Operator<T> + Send + 'static) -> Object {
        Applied::new(Box::new(operator)).into()
    }
}

impl Registry {
    /// Names an operator. Products and Krylov methods take its handle, and [`Registry::release`] with
    /// [`Kind::OPERATOR`](crate::Kind::OPERATOR).
    pub fn operator<T: Scalar>(&self, operator: impl Operator<T> + Send + 'static) -> u64 {
        self.insert(Object::operator(operator))
    }

    /// Names an operator of `rows` x `cols` whose product the caller computes, of vectors or, for [`Kind::Dense`], of dense columns.
    ///
    /// # Errors
    /// [`Error::Allocation`](clinalg::Error::Allocation), [`Error::NoFp64`](clinalg::Error::NoFp64).
    pub fn operator_of<T: Scalar>(
        &'static self,
        context: &Context,
        (rows, cols): (usize, usize),
        kind: Kind,
        product: Product,
    ) -> Result<u64> {
        let made = |len: usize| -> Result<Object> {
            let values = Vector::<T>::zeros(context, len)?;
            Ok(if kind == Kind::Dense { Dense::from_vector(len, 1, values)?.into() } else { values.into() })
        };
        let (x, y) = (made(cols)?, made(rows)?);
        let (x, y, context) = (self.insert(x), self.insert(y), context.clone());
        Ok(self.operator(CallbackOperator::<T> {
            registry: self,
            context,
            rows,
            cols,
            x,
            y,
            product,
            scalar: PhantomData,
        }))
    }
}
