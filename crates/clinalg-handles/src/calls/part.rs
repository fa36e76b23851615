//! Indexing and assignment by subscripts in one call, for interpreters whose calls cost more than the work. Each leaves what it does not do to the caller.

use clinalg::{Complex, Dense, Precision, Real as _, Result, Scalar, ops};

use crate::calls::array::Part;
use crate::kind::{Info, Kind, ScalarType};
use crate::object::{typed, typed_scalar};
use crate::registry::{Operand, Registry};

/// A subscript of an array.
#[derive(Debug, Clone, PartialEq)]
pub enum Subscript {
    /// All positions.
    All,
    /// Positions from 0 on, in an array of this shape.
    At(Vec<usize>, (usize, usize)),
    /// The positions that are true in an array of this shape, ascending from 0 on.
    Mask(Vec<usize>, (usize, usize)),
}

/// A part of an array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PartValue {
    /// Its one element.
    Number(Complex<f64>, ScalarType),
    /// The handle of a new dense matrix.
    Handle(u64),
}

/// What is assigned to a part of an array.
#[derive(Debug, Clone, Copy)]
pub enum AssignedValue<'a> {
    /// The object of this handle.
    Handle(u64),
    /// Values in double or in single precision, column by column, in an array of this shape.
    Values(&'a [Complex<f64>], (usize, usize), ScalarType),
}

/// The positions of a part.
struct Positions<'a> {
    part: Part<'a>,
    /// Number of elements.
    count: usize,
    /// Lengths of the part in each direction that has a subscript.
    lengths: Vec<usize>,
    /// The shape of what is read.
    shape: (usize, usize),
    /// Where the first element is.
    first: usize,
}

impl Subscript {
    /// The positions along a dimension, `None` for all, and their number; nothing where they do not fit a dimension of this length.
    fn along(&self, length: usize) -> Option<(Option<&[usize]>, usize)> {
        match self {
            Subscript::All => (length > 0).then_some((None, length)),
            Subscript::At(list, _) => {
                (!list.is_empty() && list.iter().all(|&at| at < length)).then_some((Some(&list[..]), list.len()))
            }
            Subscript::Mask(list, shape) => {
                (!list.is_empty() && shape.0 * shape.1 == length).then_some((Some(&list[..]), list.len()))
            }
        }
    }
}

/// What subscripts name; nothing where the caller has to say what they mean or what is wrong with them.
fn positions<'a>((rows, cols): (usize, usize), subscripts: &'a [Subscript]) -> Option<Positions<'a>> {
    let first = |list: Option<&[usize]>| list.map_or(0, |list| list[0]);
    match subscripts {
        [one] => {
            let (list, count) = one.along(rows * cols)?;
            let is_vector = rows == 1 || cols == 1;
            // A vector by a vector keeps the direction of the first.
            let as_vector = if rows == 1 { (1, count) } else { (count, 1) };
            let shape = match one {
                Subscript::All => (count, 1),
                Subscript::Mask(_, shape) if *shape != (rows, cols) => return None,
                Subscript::Mask(..) if is_vector && rows * cols != 1 => as_vector,
                Subscript::Mask(..) => (count, 1),
                Subscript::At(_, (m, n)) if is_vector && rows * cols != 1 && (*m == 1 || *n == 1) => as_vector,
                Subscript::At(_, shape) => *shape,
            };
            let part = Part::Linear(list, shape);
            Some(Positions { part, count, lengths: vec![count], shape, first: first(list) })
        }
        [i, j] => {
            let ((i, m), (j, n)) = (i.along(rows)?, j.along(cols)?);
            let at = first(i) + first(j) * rows;
            Some(Positions { part: Part::Block(i, j), count: m * n, lengths: vec![m, n], shape: (m, n), first: at })
        }
        _ => None,
    }
}

/// Whether no position occurs twice.
fn are_single(subscripts: &[Subscript]) -> bool {
    subscripts.iter().all(|subscript| match subscript {
        Subscript::At(list, _) if !list.windows(2).all(|pair| pair[0] < pair[1]) => {
            let mut sorted = list.clone();
            sorted.sort_unstable();
            sorted.windows(2).all(|pair| pair[0] < pair[1])
        }
        _ => true,
    })
}

impl Positions<'_> {
    /// Whether values of a shape go to this part: their lengths but for ones are those of the part.
    fn takes(&self, (rows, cols): (usize, usize)) -> bool {
        let long = |lengths: &[usize]| lengths.iter().copied().filter(|&n| n != 1).collect::<Vec<_>>();
        match self.lengths[..] {
            _ if (rows, cols) == (1, 1) => true,
            [count] => rows * cols == count && (rows == 1 || cols == 1 || (rows, cols) == self.shape),
            ref lengths => long(lengths) == long(&[rows, cols]),
        }
    }
}

impl Registry {
    /// The part of a full object that one or two subscripts name, as MATLAB reads it; `None` for other objects, and where a subscript does not fit.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Allocation`](clinalg::Error::Allocation).
    pub fn indexed(&self, a: u64, subscripts: &[Subscript]) -> Result<Option<PartValue>> {
        let Some((info, marked)) = self.full_info("a", a)? else { return Ok(None) };
        let Some(at) = positions((info.rows, info.cols), subscripts) else { return Ok(None) };
        // Of an array of more dimensions an element by its number is known.
        if marked && (at.count > 1 || subscripts.len() > 1) {
            return Ok(None);
        }
        if at.count > 1 {
            return Ok(Some(PartValue::Handle(self.take(a, at.part)?)));
        }
        let scalar = info.scalar();
        typed_scalar!(scalar, T => {
            let mut value = [T::from_f64(0.0)];
            self.read(a, at.first, &mut value)?;
            let [value] = value;
            Ok(Some(PartValue::Number(Complex::new(value.re().into_f64(), value.im().into_f64()), scalar)))
        })
    }

    /// A copy of a full object with other values in the part that one or two subscripts name; `None` for other objects, where a subscript does not fit or
    /// names a position twice, and where the values have another shape or a type that does not go into that of the object.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Allocation`](clinalg::Error::Allocation).
    pub fn assigned(&self, a: u64, subscripts: &[Subscript], given: AssignedValue<'_>) -> Result<Option<u64>> {
        let Some((info, false)) = self.full_info("a", a)? else { return Ok(None) };
        let Some(at) = positions((info.rows, info.cols), subscripts) else { return Ok(None) };
        if !are_single(subscripts) {
            return Ok(None);
        }
        let fits = match given {
            AssignedValue::Handle(values) => match self.full_info("values", values)? {
                Some((of, false)) => of.scalar() == info.scalar() && at.takes((of.rows, of.cols)),
                _ => false,
            },
            AssignedValue::Values(_, shape, scalar) => {
                at.takes(shape)
                    && (info.complex || !scalar.is_complex())
                    && (info.precision == Precision::F32 || scalar.precision() == Precision::F64)
            }
        };
        if !fits {
            return Ok(None);
        }
        if let Some(small) = self.small_assigned(a, &at, given)? {
            return Ok(Some(small));
        }
        let copy = self.copy(a, None)?;
        let written = match given {
            AssignedValue::Handle(values) => self.put(copy, at.part, values),
            AssignedValue::Values(values, shape, _) => self.put_values(copy, &at, (info, values, shape)),
        };
        if written.is_err() {
            self.release(copy, Kind::VALUES)?;
        }
        written.map(|()| Some(copy))
    }

    /// As [`assigned`](Registry::assigned) on the host.
    fn small_assigned(&self, a: u64, at: &Positions<'_>, given: AssignedValue<'_>) -> Result<Option<u64>> {
        let mut operands = vec![Operand::new("a", a, Kind::FULL)];
        if let AssignedValue::Handle(values) = given {
            operands.push(Operand::new("values", values, Kind::FULL));
        }
        let made = self.on_host(&operands, |inputs| {
            typed!(inputs[0], T => {
                type R = <T as Scalar>::Real;
                let Some(a) = inputs[0].host_values::<T>() else { return Ok(None) };
                let converted: Vec<T>;
                let values = match given {
                    AssignedValue::Handle(_) => match inputs[1].host_values::<T>() {
                        Some(values) => values,
                        None => return Ok(None),
                    },
                    AssignedValue::Values(values, ..) => {
                        let narrow = |z: &Complex<f64>| T::from_parts(R::from_f64(z.re), R::from_f64(z.im));
                        converted = values.iter().map(narrow).collect();
                        &converted
                    }
                };
                let info = inputs[0].info();
                let (shape, rows, cols, _) = at.part.spans((info.rows, info.cols))?;
                let a = ops::host::put(shape, a.to_vec(), rows, cols, values);
                Ok(Some(inputs[0].dense_like((info.rows, info.cols), a)?))
            })
        })?;
        Ok(made.map(|made| self.insert(made)))
    }

    /// Writes values of the host to a part.
    fn put_values(
        &self,
        a: u64,
        at: &Positions<'_>,
        (info, values, (rows, cols)): (Info, &[Complex<f64>], (usize, usize)),
    ) -> Result<()> {
        typed_scalar!(info.scalar(), T => {
            type R = <T as Scalar>::Real;
            let values: Vec<T> =
                values.iter().map(|z| T::from_parts(R::from_f64(z.re), R::from_f64(z.im))).collect();
            if at.count == 1 {
                return self.write(a, at.first, &values);
            }
            let context = self.context_of(a)?;
            let values = self.insert(Dense::from_column_major(&context, rows, cols, &values)?);
            let put = self.put(a, at.part, values);
            self.release(values, Kind::VALUES)?;
            put
        })
    }
}
