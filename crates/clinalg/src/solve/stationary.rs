//! Jacobi and Gauss-Seidel iterations.

use std::collections::VecDeque;
use std::sync::Arc;

use super::krylov_vector::like;
use super::sweeps::Sweeps;
use super::{GaussSeidelParams, JacobiParams, Operator, Preconditioner, Progress, Report, Solver, Stopping};
use crate::error::check_length;
use crate::matrix::CsrParts;
use crate::matrix::{Structure, Values};
use crate::ops::SpaceVector;
use crate::runtime::kernels::csr;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Buffer, Context, Csr, Error, Real, Result, Scalar, Vector, shown};

/// Weighted Jacobi iteration x += omega D^-1 (b - A x) with D = diag(A) (Saad, Iterative Methods for
/// Sparse Linear Systems, 2003, sections 4.1 and 13.2.2).
///
/// Converges for symmetric positive definite A where omega is below 2 over the largest eigenvalue
/// of D^-1 A, and for diagonally dominant A where omega <= 1. Owns four vectors of `n` values, and one more where the initial guess is not
/// zero. Every entry of the history is a true residual.
#[derive(Debug)]
pub struct JacobiIteration<T: Scalar, V: SpaceVector<Scalar = T> = Vector<T>> {
    params: JacobiParams,
    /// One over the diagonal.
    inverse: V,
    sweeps: Sweeps<V>,
}

impl<T: Scalar> JacobiIteration<T> {
    /// A solver for operators with this diagonal.
    ///
    /// # Errors
    /// [`Error::Value`] that names the first row (counted from 1) whose entry is zero, not finite or too
    /// small to be inverted; [`Error::Allocation`].
    pub fn new(diagonal: &Vector<T>, params: JacobiParams) -> Result<JacobiIteration<T>> {
        JacobiIteration::like(diagonal, &diagonal.to_vec()?, params)
    }
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> JacobiIteration<T, V> {
    /// A solver for systems whose vectors are like this one, and operators with this diagonal, given for all rows.
    ///
    /// # Errors
    /// As [`JacobiIteration::new`]; [`Error::Length`] that names `diagonal`.
    pub fn like(vector: &V, diagonal: &[T], params: JacobiParams) -> Result<JacobiIteration<T, V>> {
        let (inverse, [r]) = (inverted(vector, diagonal)?, like(vector)?);
        Ok(JacobiIteration { params, inverse, sweeps: Sweeps::with(r)? })
    }
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> Solver<T, V> for JacobiIteration<T, V> {
    fn size(&self) -> usize {
        self.inverse.size()
    }

    fn context(&self) -> &V::Space {
        self.inverse.space()
    }

    fn stopping(&self) -> &Stopping {
        &self.params.stopping
    }

    fn stopping_mut(&mut self) -> &mut Stopping {
        &mut self.params.stopping
    }

    fn solve_with(
        &mut self,
        a: &dyn Operator<T, V>,
        m: Option<&mut dyn Preconditioner<T, V>>,
        b: &V,
        x: &mut V,
        progress: Progress<'_>,
    ) -> Result<Report> {
        let JacobiIteration { params, inverse, sweeps } = self;
        check_unpreconditioned(m)?;
        sweeps.check(a, None, b, x)?;
        params.check()?;
        sweeps.solve((a, b), x, (&params.stopping, progress), &mut |r, z, x| {
            z.set_products(r, inverse)?;
            x.axpby(T::from_f64(params.omega), z, T::one())
        })
    }
}

/// A vector like this one with the reciprocals of a diagonal, which is given for all rows; an error that names the
/// first row whose entry has no reciprocal.
pub(crate) fn inverted<V: SpaceVector>(vector: &V, diagonal: &[V::Scalar]) -> Result<V> {
    check_length("diagonal", vector.size(), diagonal.len())?;
    let mut values = diagonal.to_vec();
    invert_diagonal(&mut values)?;
    let [mut inverse] = like(vector)?;
    inverse.set_from_host(&values)?;
    Ok(inverse)
}

/// Replaces each value by its reciprocal; an error that names the first row where there is none.
pub(crate) fn invert_diagonal<T: Scalar>(diagonal: &mut [T]) -> Result<()> {
    for (row, value) in diagonal.iter_mut().enumerate() {
        let inverse = T::one() / *value;
        if !inverse.has_finite_parts() || inverse == T::zero() {
            // Display would write hundreds of zeros.
            let size = value.modulus().into_f64();
            let tiny = size > 0.0 && size < 1e-30;
            let value = if tiny { format!("{} in modulus", shown(size)) } else { value.to_string() };
            let reason = format!(
                "the entry of row {} (counted from 1) is {value}, expected a finite number whose inverse is finite",
                row + 1
            );
            return Err(Error::unsuitable("diagonal", reason));
        }
        *value = inverse;
    }
    Ok(())
}

/// An error where a preconditioner is given to a method that takes none.
fn check_unpreconditioned<T: Scalar, V: SpaceVector<Scalar = T>>(
    m: Option<&mut dyn Preconditioner<T, V>>,
) -> Result<()> {
    match m {
        Some(_) => Err(Error::value("m", "no preconditioner: the method takes none; use CG, BiCGStab or GMRES", "one")),
        None => Ok(()),
    }
}

/// Gauss-Seidel iteration with the unknowns sorted by colour, those of one colour updated together
/// (Saad, Iterative Methods for Sparse Linear Systems, 2003, sections 4.1, 12.4.1 and 12.4.3).
///
/// Two unknowns that an entry of A couples have different colours. Where two colours suffice, as for
/// the 5-point stencil, this is red-black Gauss-Seidel: breadth-first numbering finds them. Other
/// matrices get the colours of the greedy algorithm, at most one more than the largest number of neighbours of
/// an unknown.
///
/// Converges for symmetric positive definite and for diagonally dominant A. Owns three vectors of
/// `n` values and `n` indices, and one more vector where the initial guess is not zero. Every entry of the history is a true residual.
#[derive(Debug)]
pub struct RedBlackGaussSeidel<T: Real> {
    params: GaussSeidelParams,
    structure: Arc<Structure>,
    rows: ColouredRows,
    sweeps: Sweeps<Vector<T>>,
}

impl<T: Real> RedBlackGaussSeidel<T> {
    /// A solver for `a` and matrices that share its structure with other values; colours the
    /// unknowns on the host.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `a` is square; [`Error::Value`] that names the first row (counted from 1)
    /// whose diagonal entry is missing, zero or not finite; [`Error::Allocation`].
    pub fn new(a: &Csr<T>, params: GaussSeidelParams) -> Result<RedBlackGaussSeidel<T>> {
        let (rows, cols) = (a.rows(), a.cols());
        if rows != cols {
            let got = format!("{rows} x {cols}");
            return Err(Error::Shape { argument: "a", expected: "a square matrix".into(), got });
        }
        let parts = a.to_parts()?;
        invert_diagonal(&mut parts.diagonal())?;
        let colours = colour(&parts)?;
        let mut starts = vec![0; colours.iter().max().map_or(0, |&most| most as usize + 1) + 1];
        for &colour in &colours {
            starts[colour as usize + 1] += 1;
        }
        for colour in 1..starts.len() {
            starts[colour] += starts[colour - 1];
        }
        // Rows fit 32 bits, as every index of a sparse matrix does; the sort keeps their order.
        let mut order: Vec<u32> = (0..rows as u32).collect();
        order.sort_by_key(|&i| colours[i as usize]);
        Ok(RedBlackGaussSeidel {
            params,
            structure: a.structure().clone(),
            rows: ColouredRows::new(Buffer::from_slice(a.context(), &order)?, starts),
            sweeps: Sweeps::with(Vector::uninit(a.context(), rows)?)?,
        })
    }

    /// Number of colours: 2 where red-black numbering exists and any unknowns are coupled.
    pub fn colours(&self) -> usize {
        self.rows.starts.len() - 1
    }
}

impl<T: Real> Solver<T> for RedBlackGaussSeidel<T> {
    fn size(&self) -> usize {
        self.structure.rows
    }

    fn context(&self) -> &Context {
        self.sweeps.r.context()
    }

    fn stopping(&self) -> &Stopping {
        &self.params.stopping
    }

    fn stopping_mut(&mut self) -> &mut Stopping {
        &mut self.params.stopping
    }

    fn solve_with(
        &mut self,
        a: &dyn Operator<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<Report> {
        check_unpreconditioned(m)?;
        check_length("self", self.structure.rows, self.sweeps.r.len())?;
        self.sweeps.check(a, None, b, x)?;
        let matrix =
            a.as_csr().filter(|a| Arc::ptr_eq(&self.structure, a.structure())).ok_or_else(|| Error::Shape {
                argument: "a",
                expected: "the matrix the solver was made for, or one that shares its structure".into(),
                got: "another operator".into(),
            })?;
        let RedBlackGaussSeidel { params, rows, sweeps, .. } = self;
        sweeps.solve((a, b), x, (&params.stopping, progress), &mut |_, _, x| rows.sweep(matrix, b, x, false))
    }
}

/// The rows of a matrix by colours: no entry couples two rows of one colour.
#[derive(Debug)]
pub(crate) struct ColouredRows {
    /// The rows, sorted by colour.
    row: Buffer<u32>,
    /// First position of each colour in `row`, and the number of rows.
    starts: Vec<usize>,
}

impl ColouredRows {
    pub(crate) fn new(row: Buffer<u32>, starts: Vec<usize>) -> ColouredRows {
        ColouredRows { row, starts }
    }

    /// The rows, and where each colour starts.
    #[cfg(test)]
    pub(crate) fn parts(&self) -> Result<(Vec<u32>, Vec<usize>)> {
        Ok((self.row.to_vec()?, self.starts.clone()))
    }

    /// A Gauss-Seidel sweep for A x = b, colour by colour, the last one first where `reversed`.
    pub(crate) fn sweep<T: Real>(&self, a: &Csr<T>, b: &Vector<T>, x: &mut Vector<T>, reversed: bool) -> Result<()> {
        let (context, s) = (a.context(), a.structure());
        let colours = self.starts.len() - 1;
        for k in 0..colours {
            let colour = if reversed { colours - 1 - k } else { k };
            let (first, count) = (self.starts[colour], self.starts[colour + 1] - self.starts[colour]);
            let range = match context.family() {
                KernelFamily::Cpu => Range::d1(context.chunks().min(count), 1),
                KernelFamily::Gpu => Range::d1(count, context.local()),
            };
            let (row, value, b, x) = (&self.row, a.values(), b.buffer(), Out::shared(x.buffer()));
            csr::Program::<T>::new().sweep_csr(context, range, first, count, row, &s.offset, &s.column, value, b, x)?;
        }
        Ok(())
    }
}

/// A colour for each row, so that rows coupled by an entry on either side of the diagonal differ:
/// two colours where they suffice.
pub(crate) fn colour<T: Scalar>(a: &CsrParts<T>) -> Result<Vec<u32>> {
    let transposed = a.transpose()?;
    let neighbours = |i: usize| {
        let both = a.row(i).chain(transposed.row(i));
        both.map(|(j, _)| j).filter(move |&j| j != i)
    };
    Ok(two_colours(a.rows, neighbours).unwrap_or_else(|| greedy_colours(a.rows, neighbours)))
}

/// Breadth-first from the first uncoloured row; `None` on a cycle of odd length.
fn two_colours<I: Iterator<Item = usize>>(rows: usize, neighbours: impl Fn(usize) -> I) -> Option<Vec<u32>> {
    let mut colours = vec![NONE; rows];
    let mut queue = VecDeque::new();
    for seed in 0..rows {
        if colours[seed] != NONE {
            continue;
        }
        colours[seed] = 0;
        queue.push_back(seed);
        while let Some(i) = queue.pop_front() {
            for j in neighbours(i) {
                if colours[j] == NONE {
                    colours[j] = 1 - colours[i];
                    queue.push_back(j);
                } else if colours[j] == colours[i] {
                    return None;
                }
            }
        }
    }
    Some(colours)
}

/// Each row in turn gets the first colour that no neighbour has.
fn greedy_colours<I: Iterator<Item = usize>>(rows: usize, neighbours: impl Fn(usize) -> I) -> Vec<u32> {
    let mut colours = vec![NONE; rows];
    // The last row that met each colour among its neighbours.
    let mut met = Vec::new();
    for i in 0..rows {
        for j in neighbours(i).filter(|&j| colours[j] != NONE) {
            met[colours[j] as usize] = i;
        }
        let free = met.iter().position(|&row| row != i).unwrap_or(met.len());
        if free == met.len() {
            met.push(i);
        }
        colours[i] = free as u32;
    }
    colours
}

/// The colour of a row that has none yet.
const NONE: u32 = u32::MAX;
