//! The smoothed prolongator P = (I - omega D^-1 A_s) T, with the strong entries A_s of A and the tentative prolongator T.

use super::aggregate::{Aggregates, Peaks};
use super::prolongator::{NearNull, Tentative};
use crate::matrix::{Entries, EntriesRef, Structure};
use crate::ops::sparse::{self, Product};
use crate::ops::{self, items};
use crate::runtime::kernels::amg_setup::Program;
use crate::runtime::{KernelFamily, Out};
use crate::{Buffer, Real, Result, Vector};

/// The damping factor omega is this divided by the bound of the eigenvalues.
const SMOOTHING: f64 = 4.0 / 3.0;

/// How the prolongator of a level was computed, so that it can be computed again for new values of the matrix.
pub(super) enum Smoothing<T: Real> {
    /// Directly, row by row of A: the aggregate of each strong entry, and the norms of the near-null vector on the aggregates.
    Rows { map: Buffer<u32>, norm: Buffer<T> },
    /// As a product of the strong entries with the tentative prolongator.
    Mapped { map: Buffer<u32>, strong: Structure, tentative: Entries<T>, product: Product },
    /// The same product with all entries, for several unknowns per node.
    All { tentative: Entries<T>, product: Product },
}

/// The matrix that smooths the tentative prolongator, and its near-null vectors.
pub(super) struct Source<'a, T: Real> {
    pub(super) a: EntriesRef<'a, T>,
    pub(super) near: &'a NearNull<T>,
    /// A bound of the eigenvalues of D^-1 A.
    pub(super) largest: f64,
}

/// The data that determine which entries of a row are strong.
pub(super) struct Strong<'a, T: Real> {
    pub(super) aggregates: &'a Aggregates,
    /// Largest off-diagonal moduli of the rows of A; `None` if a node has several unknowns.
    pub(super) peaks: Option<&'a Peaks<T>>,
    pub(super) theta: f64,
}

/// The diagonal with the weak entries lumped into it, and omega.
struct Step<T: Real> {
    diagonal: Buffer<T>,
    omega: T,
}

impl<T: Real> Source<'_, T> {
    /// Maps the strong entries to the aggregates of their columns; without `strong`, keeps the map as it is.
    fn map(&self, strong: Option<&Strong<'_, T>>, map: &Buffer<u32>) -> Result<Step<T>> {
        let s = self.a.structure;
        let (context, rows) = (s.offset.context(), s.rows);
        let mut diagonal = Buffer::uninit(context, rows)?;
        let bound = Vector::<T>::uninit(context, rows)?;
        // Placeholder for arguments that the kernel does not read when the map is kept.
        let none = Buffer::uninit(context, 1)?;
        let (peak, aggregate, theta) = match strong {
            Some(Strong { aggregates, peaks: Some(peaks), theta }) => (&peaks.values, &aggregates.of, *theta),
            _ => (self.a.values, &none, 0.0),
        };
        Program::<T>::new().map_aggregates(
            context,
            items(context, rows),
            rows,
            u32::from(strong.is_some()),
            T::from_f64(theta * theta),
            peak,
            self.near.count,
            &self.near.values,
            aggregate,
            &s.offset,
            &s.column,
            self.a.values,
            Out::shared(map),
            &mut diagonal,
            Out::shared(bound.buffer()),
        )?;
        // Both the bound from the rows and the estimate for the whole matrix are valid; the smaller one allows the larger omega.
        let largest = ops::norm_inf(&bound)?.into_f64().min(self.largest);
        Ok(Step { diagonal, omega: T::from_f64(SMOOTHING / largest) })
    }

    fn fill_rows(
        &self,
        step: &Step<T>,
        map: &Buffer<u32>,
        norm: &Buffer<T>,
        p: &Structure,
        values: Out<'_, T>,
    ) -> Result<()> {
        let s = self.a.structure;
        let (program, context) = (Program::<T>::new(), s.offset.context());
        let (rows, omega, near, diagonal) = (s.rows, step.omega, &self.near.values, &step.diagonal);
        let (ao, ac, av, po, pc) = (&s.offset, &s.column, self.a.values, &p.offset, Out::shared(&p.column));
        match context.family() {
            KernelFamily::Cpu => {
                let range = sparse::parts(context, rows);
                let mut place = sparse::places(context, range, p.cols)?;
                program.fill_prolongator_cpu(
                    context, range, rows, p.cols, omega, near, norm, diagonal, ao, ac, av, map, &mut place, po, pc,
                    values,
                )
            }
            KernelFamily::Gpu => {
                let range = items(context, rows);
                program.fill_prolongator_gpu(
                    context, range, rows, omega, near, norm, diagonal, ao, ac, av, map, po, pc, values,
                )
            }
        }
    }

    /// Counts the entries of each row of the prolongator.
    fn count_rows(&self, map: &Buffer<u32>, cols: usize, count: &mut Buffer<u32>) -> Result<()> {
        let s = self.a.structure;
        let (program, context, rows) = (Program::<T>::new(), s.offset.context(), s.rows);
        match context.family() {
            KernelFamily::Cpu => {
                let range = sparse::parts(context, rows);
                let mut place = sparse::places(context, range, cols)?;
                program.count_prolongator_cpu(context, range, rows, cols, &s.offset, map, &mut place, count)
            }
            KernelFamily::Gpu => {
                program.count_prolongator_gpu(context, items(context, rows), rows, &s.offset, map, count)
            }
        }
    }

    /// The values of I - omega D^-1 A_s in the sparsity pattern of A_s.
    fn mapped(&self, step: &Step<T>, map: &Buffer<u32>, strong: &Structure) -> Result<Buffer<T>> {
        let s = self.a.structure;
        let (context, rows) = (s.offset.context(), s.rows);
        let mut values = Buffer::uninit(context, strong.nnz)?;
        Program::<T>::new().fill_mapped(
            context,
            items(context, rows),
            rows,
            step.omega,
            &step.diagonal,
            &s.offset,
            &s.column,
            self.a.values,
            map,
            &strong.offset,
            Out::shared(&strong.column),
            &mut values,
        )?;
        Ok(values)
    }

    /// I - omega D^-1 A.
    fn all(&self) -> Result<Buffer<T>> {
        let s = self.a.structure;
        let (context, rows) = (s.offset.context(), s.rows);
        let mut values = Buffer::uninit(context, s.nnz)?;
        values.copy_from(self.a.values)?;
        let omega = T::from_f64(SMOOTHING / self.largest);
        let to = &mut values;
        Program::<T>::new().fill_smoothing(context, items(context, rows), rows, omega, &s.offset, &s.column, to)?;
        Ok(values)
    }
}

impl<T: Real> Smoothing<T> {
    /// The prolongator, how it was computed, and the near-null vectors of the coarser level.
    pub(super) fn new(
        source: &Source<'_, T>,
        strong: &Strong<'_, T>,
    ) -> Result<(Entries<T>, Smoothing<T>, NearNull<T>)> {
        let Source { a, near, .. } = *source;
        let Tentative { matrix: tentative, coarse } = Tentative::new(strong.aggregates, near)?;
        let Some(peaks) = strong.peaks else {
            let values = source.all()?;
            let s = EntriesRef { structure: a.structure, values: &values };
            let (p, product) = sparse::multiply(s, (&tentative).into())?;
            return Ok((p, Smoothing::All { tentative, product }, coarse));
        };
        let (context, rows) = (a.structure.offset.context(), a.structure.rows);
        let (program, range) = (Program::<T>::new(), items(context, rows));
        let map = Buffer::uninit(context, a.structure.nnz)?;
        let step = source.map(Some(strong), &map)?;
        let mut count = Buffer::<u32>::uninit(context, rows)?;
        let by_rows = near.count == 1 && !peaks.long;
        if by_rows {
            source.count_rows(&map, coarse.values.len(), &mut count)?;
        } else {
            program.count_mapped(context, range, rows, &a.structure.offset, &map, &mut count)?;
        }
        let (offset, nnz) = sparse::scan::<T>(context, &count)?;
        let cols = if by_rows { coarse.values.len() } else { rows };
        let structure = Structure { rows, cols, nnz, offset, column: Buffer::uninit(context, nnz)? };
        if by_rows {
            let mut norm = Buffer::uninit(context, cols)?;
            norm.copy_from(&coarse.values)?;
            let values = Buffer::uninit(context, nnz)?;
            source.fill_rows(&step, &map, &norm, &structure, Out::shared(&values))?;
            return Ok((Entries { structure, values }, Smoothing::Rows { map, norm }, coarse));
        }
        let values = source.mapped(&step, &map, &structure)?;
        let s = EntriesRef { structure: &structure, values: &values };
        let (p, product) = sparse::multiply(s, (&tentative).into())?;
        Ok((p, Smoothing::Mapped { map, strong: structure, tentative, product }, coarse))
    }

    /// Computes the values of the prolongator for new values of A, in the sparsity pattern `p`.
    pub(super) fn refill(&self, source: &Source<'_, T>, p: &Structure, to: Out<'_, T>) -> Result<()> {
        let (structure, values, tentative, product) = match self {
            Smoothing::Rows { map, norm } => {
                let step = source.map(None, map)?;
                return source.fill_rows(&step, map, norm, p, to);
            }
            Smoothing::Mapped { map, strong, tentative, product } => {
                let step = source.map(None, map)?;
                (strong, source.mapped(&step, map, strong)?, tentative, product)
            }
            Smoothing::All { tentative, product } => (source.a.structure, source.all()?, tentative, product),
        };
        product.fill(EntriesRef { structure, values: &values }, tentative.into(), p, to)
    }
}
