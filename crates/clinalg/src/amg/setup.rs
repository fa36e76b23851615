//! The levels of a hierarchy: their set-up and their refill with other values.

use super::aggregate::{self, Peaks, aggregate};
use super::classical::Classical;
use super::clock::Clock;
use super::colours::by_colours;
use super::multipass::Multipass;
use super::params::{AmgParams, Coarsening, Smoother};
use super::prolongator::NearNull;
use super::smoothing::{Smoothing, Source, Strong};
use crate::matrix::{Csr, DenseProducts, Entries, EntriesRef, Structure, Values, conversion, csr_cpu};
use crate::ops::sparse::{self, Product};
use crate::ops::{self, items};
use crate::runtime::kernels::amg_setup::{self, Program};
use crate::runtime::kernels::{amg_cycle, cg, convert, csr, dense, inverse, reduce, sparse_product, vector};
use crate::runtime::{Kernel, Out};
use crate::solve::ColouredRows;
use crate::{Buffer, Dense, Error, Real, Result, Vector, solve};

/// A level and the transfer to the next coarser one.
pub(super) struct Level<T: Real> {
    pub(super) a: Csr<T>,
    /// What the smoother multiplies residuals by.
    pub(super) inverse: Vector<T>,
    /// An upper bound of the eigenvalues of D^-1 A, if it was computed.
    pub(super) largest: f64,
    /// For Gauss-Seidel sweeps.
    pub(super) colours: Option<ColouredRows>,
    /// A step and a product or a residual.
    pub(super) step: Vector<T>,
    pub(super) product: Vector<T>,
    /// Of the flexible steps of a K-cycle, once it was applied.
    pub(super) steps: Option<[Vector<T>; 3]>,
    pub(super) coarser: Option<Coarser<T>>,
}

/// Between a level and the next coarser one.
pub(super) struct Coarser<T: Real> {
    pub(super) prolong: Csr<T>,
    pub(super) restrict: Csr<T>,
    pub(super) b: Vector<T>,
    pub(super) x: Vector<T>,
    kept: Option<ReusableStructure<T>>,
    /// Of the finer level, where it is kept.
    near: Option<NearNull<T>>,
}

/// What is kept when the values of the matrix change.
struct ReusableStructure<T: Real> {
    interpolation: Interpolation<T>,
    /// A times the prolongator.
    half: Structure,
    half_product: Product,
    galerkin: Product,
}

/// How the prolongator was computed.
enum Interpolation<T: Real> {
    Aggregation(Smoothing<T>),
    Classical(Classical),
    Multipass(Multipass),
}

/// How the coarsest level is solved.
pub(super) enum Coarsest<T: Real> {
    /// The inverse of the matrix; how many near-null vectors it maps to zero.
    Inverse(Dense<T>, usize),
    /// The smoother: no two unknowns are strongly connected.
    Smoothed,
}

/// One kernel from each program that the set-up, the cycles and, on a CPU, conjugate gradients use, roughly in order of first use.
pub(super) fn kernels<T: Real>(a: &Csr<T>, params: &AmgParams) -> Vec<Kernel> {
    let (context, rows) = (a.context(), a.rows());
    let setup = [
        amg_setup::Program::<T>::new().kernel(amg_setup::FILL_INVERSE),
        conversion::<T>(context).kernel(convert::SUM_COUNTS),
    ];
    let coarser = sparse::multiplication::<T>(context).kernel(sparse_product::COUNT_PRODUCT);
    let end = [
        inverse::Program::<T>::new().kernel(inverse::PAD_SQUARE),
        amg_cycle::Program::<T>::new().kernel(amg_cycle::FIRST_STEP),
    ];
    let Some([product, with_dots]) = a.product_kernels() else {
        return setup.into_iter().chain([coarser]).chain(end).collect();
    };
    let powers = [
        product,
        vector::Program::<T>::new().kernel(vector::MULTIPLY),
        reduce::Program::<T>::new().kernel(reduce::SUM_SQUARE),
    ];
    // Products with few columns (prolongation from a coarse level) and with many.
    let [near, far] = [1, rows].map(|cols| csr_cpu::<T>(context, rows, cols).program.kernel(csr::MV_CSR));
    let mut all: Vec<_> = setup.into_iter().chain(powers).chain([coarser, near]).chain(end).collect();
    if !params.single {
        let coarsest = DenseProducts::<T>::new(context, params.coarse_size, params.coarse_size).one.program;
        all.extend([far, coarsest.kernel(dense::MV_DENSE)]);
    }
    all.extend([with_dots, cg::Program::<T>::new().kernel(cg::CG_DIRECTION)]);
    all
}

/// The hierarchy ends at a level where the next would have more than this fraction of its rows.
const LEAST_COARSENING: f64 = 0.8;
/// Products of the power iteration that estimates the largest eigenvalue.
const POWERS: usize = 12;
/// What the estimate of the largest eigenvalue is multiplied by.
const MARGIN: f64 = 1.1;

impl<T: Real> Level<T> {
    /// Finds the colours of the rows where the smoother sweeps by them; the coarsest level with an inverse needs none.
    fn colour(&mut self, smoother: Smoother) -> Result<()> {
        if matches!(smoother, Smoother::GaussSeidel(_)) {
            self.colours = Some(by_colours(&self.a)?);
        }
        Ok(())
    }

    fn coloured(a: Csr<T>, smoother: Smoother, colours: Option<ColouredRows>) -> Result<Level<T>> {
        let (context, n) = (a.context().clone(), a.rows());
        let vector = || Vector::uninit(&context, n);
        let (inverse, step, product) = (vector()?, vector()?, vector()?);
        let mut level = Level { a, inverse, largest: 0.0, colours, step, product, steps: None, coarser: None };
        level.look(smoother)?;
        Ok(level)
    }

    /// Computes what depends on the values of the matrix.
    fn look(&mut self, smoother: Smoother) -> Result<()> {
        let Level { a, inverse, largest, step, product, .. } = self;
        let (context, n) = (a.context(), a.rows());
        let program = Program::<T>::new();
        let s = a.structure();
        let mut wrong = Buffer::from_slice(context, &[u32::MAX])?;
        let fill = |kind: u32, wrong: &mut Buffer<u32>| {
            let to = Out::shared(inverse.buffer());
            program.fill_inverse(context, items(context, n), n, kind, &s.offset, &s.column, a.values(), to, wrong)
        };
        fill(0, &mut wrong)?;
        if let Some(&row) = wrong.to_vec()?.first().filter(|&&row| row != u32::MAX) {
            let reason = format!(
                "row {} of {n} (counted from 1) has a diagonal entry that is 0 or not finite; use an incomplete factorisation or no preconditioner",
                row + 1
            );
            return Err(Error::unsuitable("a", reason));
        }
        program.fill_noise(context, items(context, n), n, Out::shared(step.buffer()))?;
        let mut norms = [0.0; 2];
        for k in 0..POWERS {
            ops::mv(T::one(), &*a, step, T::zero(), product)?;
            if k + 1 == POWERS {
                norms[0] = ops::norm2(step)?.into_f64();
            }
            ops::multiply(product, inverse, step)?;
        }
        norms[1] = ops::norm2(step)?.into_f64();
        let estimate = norms[1] / norms[0];
        if n > 0 && !(estimate.is_finite() && estimate > 0.0) {
            let reason = match estimate == 0.0 {
                true => {
                    "power iteration with D^-1 A, where D is the diagonal of A, gives the zero vector; use an incomplete factorisation"
                }
                false => "products with the matrix overflow; scale it, or use an incomplete factorisation",
            };
            return Err(Error::unsuitable("a", reason));
        }
        *largest = MARGIN * estimate;
        match smoother {
            Smoother::Chebyshev(_) | Smoother::GaussSeidel(_) => Ok(()),
            Smoother::L1Jacobi(_) => fill(1, &mut wrong),
            Smoother::Spai0(_) => fill(2, &mut wrong),
        }
    }
}

/// The next coarser level, or why there is none.
enum Next<T: Real> {
    Level(Box<(Coarser<T>, Csr<T>, NearNull<T>)>),
    NothingStrong,
    Stalls(usize),
}

/// A prolongator with how it was computed and the near-null vectors of the coarser level, or why there is none.
enum Prolongator<T: Real> {
    Built(Box<(Entries<T>, Interpolation<T>, NearNull<T>)>),
    NothingStrong,
    Stalls(usize),
}

impl<T: Real> Prolongator<T> {
    /// Why a level of `rows` rows cannot have a coarser one of `coarse` rows, if so.
    fn refused(coarse: usize, rows: usize) -> Option<Prolongator<T>> {
        match coarse {
            0 => Some(Prolongator::NothingStrong),
            coarse if coarse as f64 > LEAST_COARSENING * rows as f64 => Some(Prolongator::Stalls(coarse)),
            _ => None,
        }
    }

    fn aggregated(
        level: &Level<T>,
        near: &NearNull<T>,
        params: &AmgParams,
        clock: &mut Clock<'_>,
    ) -> Result<Prolongator<T>> {
        let (a, theta) = (level.a.entries(), params.bound());
        // With one unknown per node, weak entries of a row are left out of the prolongator smoothing as well.
        let (aggregates, peaks) = if near.block == 1 {
            let peaks = Peaks::of(a)?;
            clock.mark("strength")?;
            (aggregate(a, &peaks, theta)?, Some(peaks))
        } else {
            let nodes = aggregate::nodes(a, near.block)?;
            let peaks = Peaks::of((&nodes).into())?;
            clock.mark("strength")?;
            (aggregate((&nodes).into(), &peaks, theta)?, None)
        };
        clock.mark("aggregation")?;
        if let Some(refused) = Prolongator::refused(aggregates.count * near.count, level.a.rows()) {
            return Ok(refused);
        }
        let source = Source { a, near, largest: level.largest };
        let strong = Strong { aggregates: &aggregates, peaks: peaks.as_ref(), theta };
        let (p, smoothing, coarse_near) = Smoothing::new(&source, &strong)?;
        Ok(Prolongator::Built(Box::new((p, Interpolation::Aggregation(smoothing), coarse_near))))
    }

    fn classical(level: &Level<T>, params: &AmgParams, clock: &mut Clock<'_>) -> Result<Prolongator<T>> {
        let a = level.a.entries();
        let (classical, count) = Classical::new(a, params.bound())?;
        clock.mark("splitting")?;
        if let Some(refused) = Prolongator::refused(count, level.a.rows()) {
            return Ok(refused);
        }
        let p = classical.interpolation(a, count)?;
        let near = NearNull::constant(level.a.context(), count, 1)?;
        Ok(Prolongator::Built(Box::new((p, Interpolation::Classical(classical), near))))
    }

    fn aggressive(level: &Level<T>, params: &AmgParams, clock: &mut Clock<'_>) -> Result<Prolongator<T>> {
        let Some((multipass, p)) = Multipass::new(level.a.entries(), params.bound())? else {
            return Ok(Prolongator::NothingStrong);
        };
        clock.mark("splitting")?;
        let count = p.structure.cols;
        if let Some(refused) = Prolongator::refused(count, level.a.rows()) {
            return Ok(refused);
        }
        let near = NearNull::constant(level.a.context(), count, 1)?;
        Ok(Prolongator::Built(Box::new((p, Interpolation::Multipass(multipass), near))))
    }
}

/// The next coarser level; `finest` where `level` is the finest.
fn coarsen<T: Real>(
    level: &Level<T>,
    near: &NearNull<T>,
    finest: bool,
    params: &AmgParams,
    clock: &mut Clock<'_>,
) -> Result<Next<T>> {
    let (a, context) = (level.a.entries(), level.a.context());
    let made = match params.coarsening {
        Coarsening::Classical if finest && params.aggressive => Prolongator::aggressive(level, params, clock)?,
        Coarsening::Classical => Prolongator::classical(level, params, clock)?,
        Coarsening::Auto | Coarsening::Aggregation => Prolongator::aggregated(level, near, params, clock)?,
    };
    let (p, interpolation, coarse_near) = match made {
        Prolongator::Built(made) => *made,
        Prolongator::NothingStrong => return Ok(Next::NothingStrong),
        Prolongator::Stalls(coarse) => return Ok(Next::Stalls(coarse)),
    };
    let coarse_rows = p.structure.cols;
    clock.mark("prolongator")?;
    let r = EntriesRef::from(&p).transposed()?;
    clock.mark("transpose")?;
    let (half, half_product) = sparse::multiply(a, (&p).into())?;
    clock.mark("AP")?;
    let (mut coarse, galerkin) = sparse::multiply((&r).into(), (&half).into())?;
    mend(&coarse.structure, &mut coarse.values)?;
    clock.mark("RAP")?;
    let kept =
        params.reusable.then(|| ReusableStructure { interpolation, half: half.structure, half_product, galerkin });
    let coarser = Coarser {
        prolong: Csr::for_few_products(p)?,
        restrict: Csr::for_few_products(r)?,
        b: Vector::uninit(context, coarse_rows)?,
        x: Vector::uninit(context, coarse_rows)?,
        kept,
        near: None,
    };
    let coarse = Csr::for_few_products(coarse)?;
    clock.mark("formats")?;
    Ok(Next::Level(Box::new((coarser, coarse, coarse_near))))
}

fn mend<T: Real>(s: &Structure, values: &mut Buffer<T>) -> Result<()> {
    let (context, rows) = (s.offset.context(), s.rows);
    Program::<T>::new().mend_diagonal(context, items(context, rows), rows, &s.offset, &s.column, values)
}

/// Levels, the solver of the coarsest one and its near-null space.
pub(super) type Built<T> = (Vec<Level<T>>, Coarsest<T>, NearNull<T>);

/// All levels of `a`.
pub(super) fn build<T: Real>(
    a: Csr<T>,
    near: NearNull<T>,
    params: &AmgParams,
    clock: &mut Clock<'_>,
) -> Result<Built<T>> {
    let mut levels: Vec<Level<T>> = Vec::new();
    let (mut next, mut near) = (Some(a), near);
    let mut end = None;
    while let Some(a) = next.take() {
        clock.enter(levels.len());
        let mut level = Level::coloured(a, params.relaxation(), None)?;
        clock.mark("smoother")?;
        let rows = level.a.rows();
        if rows > params.coarse_size && levels.len() + 1 < params.max_levels {
            match coarsen(&level, &near, levels.is_empty(), params, clock)? {
                Next::Level(made) => {
                    level.colour(params.relaxation())?;
                    let (mut coarser, coarse, coarse_near) = *made;
                    let finer = std::mem::replace(&mut near, coarse_near);
                    coarser.near = params.reusable.then_some(finer);
                    level.coarser = Some(coarser);
                    next = Some(coarse);
                }
                Next::NothingStrong => {
                    level.colour(params.relaxation())?;
                    end = Some(Coarsest::Smoothed);
                }
                Next::Stalls(_) if rows <= LARGEST_DENSE => {}
                Next::Stalls(coarse) => {
                    let reason = format!(
                        "the matrix does not coarsen: the {rows} rows of level {} become {coarse}; lower theta, give the near-null space and \
                         the block size that the matrix has, do without aggressive coarsening, or use an incomplete factorisation",
                        levels.len()
                    );
                    return Err(Error::unsuitable("a", reason));
                }
            }
        }
        levels.push(level);
    }
    let last = levels.last().expect("the matrix is a level");
    let end = match end {
        Some(end) => end,
        None if last.a.rows() > LARGEST_DENSE => {
            let expected = format!("enough levels to come to {LARGEST_DENSE} rows");
            return Err(Error::value(
                "max_levels",
                expected,
                format!("{}, which leaves {}", params.max_levels, last.a.rows()),
            ));
        }
        None => coarsest(&last.a, &near)?,
    };
    clock.mark("coarsest")?;
    Ok((levels, end, near))
}

/// Maximum number of rows of a level that is inverted where it cannot be coarsened.
const LARGEST_DENSE: usize = 4096;

/// Propagates new values of the finest matrix, at the same positions, through all levels.
pub(super) fn refill<T: Real>(
    levels: &mut [Level<T>],
    end: &mut Coarsest<T>,
    near: &NearNull<T>,
    values: &Buffer<T>,
    smoother: Smoother,
) -> Result<()> {
    levels[0].a.values_mut().copy_from(values)?;
    for k in 0..levels.len() {
        let (own, coarser) = levels[k..].split_at_mut(1);
        let level = &mut own[0];
        level.look(smoother)?;
        let (Some(step), Some(next)) = (&mut level.coarser, coarser.first_mut()) else { continue };
        let (Some(kept), Some(finer)) = (&step.kept, &step.near) else {
            return Err(Error::value(
                "reusable",
                "true when the hierarchy is created, so that it can be refilled",
                false,
            ));
        };
        let a = level.a.entries();
        let context = level.a.context();
        let p_structure = step.prolong.structure().clone();
        let to = step.prolong.values_mut();
        let to = Out::shared(to.buffer());
        match &kept.interpolation {
            Interpolation::Aggregation(smoothing) => {
                let source = Source { a, near: finer, largest: level.largest };
                smoothing.refill(&source, &p_structure, to)?;
            }
            Interpolation::Classical(classical) => classical.refill(a, &p_structure, to)?,
            Interpolation::Multipass(multipass) => multipass.refill(a, &p_structure, to)?,
        }
        let r = step.prolong.entries().transposed()?;
        step.restrict.values_mut().copy_from(&r.values)?;
        let half = Buffer::uninit(context, kept.half.nnz)?;
        kept.half_product.fill(a, step.prolong.entries(), &kept.half, Out::shared(&half))?;
        let half = EntriesRef { structure: &kept.half, values: &half };
        let coarse_structure = next.a.structure().clone();
        let mut values = Buffer::uninit(context, coarse_structure.nnz)?;
        kept.galerkin.fill(step.restrict.entries(), half, &coarse_structure, Out::shared(&values))?;
        mend(&coarse_structure, &mut values)?;
        next.a.values_mut().copy_from(&values)?;
    }
    if let Coarsest::Inverse(..) = end {
        *end = coarsest(&levels[levels.len() - 1].a, near)?;
    }
    Ok(())
}

/// The inverse of the matrix; where near-null vectors are in its null space, of the matrix made nonsingular in these directions.
fn coarsest<T: Real>(a: &Csr<T>, near: &NearNull<T>) -> Result<Coarsest<T>> {
    let parts = a.to_parts()?;
    let (n, eps) = (parts.rows, T::epsilon().into_f64());
    let mut dense = vec![T::zero(); n * n];
    let mut symmetric = true;
    for i in 0..n {
        parts.row(i).for_each(|(j, v)| dense[j * n + i] = v);
    }
    for i in 0..n {
        let unequal = |j: usize| {
            let (x, y) = (dense[j * n + i].into_f64(), dense[i * n + j].into_f64());
            let size = (dense[i * n + i].into_f64() * dense[j * n + j].into_f64()).abs().sqrt();
            (x - y).abs() > 1e3 * eps * size.max(x.abs())
        };
        symmetric &= !(0..i).any(unequal);
    }
    let vectors = near.values.to_vec()?;
    let mut null: Vec<Vec<f64>> = Vec::new();
    for k in 0..near.count {
        let v: Vec<f64> = (0..n).map(|i| vectors[i * near.count + k].into_f64()).collect();
        let cancels = (0..n).all(|i| {
            let terms: Vec<f64> = parts.row(i).map(|(j, a)| a.into_f64() * v[j]).collect();
            terms.iter().sum::<f64>().abs() <= 1e3 * eps * terms.iter().map(|t| t.abs()).sum::<f64>()
        });
        if !cancels {
            continue;
        }
        let mut q = v;
        for _ in 0..2 {
            for other in &null {
                let dot: f64 = q.iter().zip(other).map(|(a, b)| a * b).sum();
                q.iter_mut().zip(other).for_each(|(a, b)| *a -= dot * b);
            }
        }
        let norm = q.iter().map(|v| v * v).sum::<f64>().sqrt();
        if norm > 1e-6 {
            q.iter_mut().for_each(|v| *v /= norm);
            null.push(q);
        }
    }
    let size = (0..n).map(|i| dense[i * n + i].into_f64().abs()).sum::<f64>() / n.max(1) as f64;
    for q in &null {
        for j in 0..n {
            for i in 0..n {
                dense[j * n + i] += T::from_f64(size * q[i] * q[j]);
            }
        }
    }
    let dense = Dense::from_column_major(a.context(), n, n, &dense)?;
    let definite = if symmetric { solve::inverse_definite(&dense).ok() } else { None };
    let inverse = match definite {
        Some(inverse) => inverse,
        None => ops::inverse(&dense).map_err(|error| {
            let reason = format!(
                "the matrix of the coarsest level, of {n} rows, is singular ({error}); include its null space in the near-null vectors"
            );
            Error::unsuitable("a", reason)
        })?,
    };
    Ok(Coarsest::Inverse(inverse, null.len()))
}

impl<T: Real> Level<T> {
    /// The level in single precision.
    pub(super) fn narrowed(self, params: &AmgParams) -> Result<Level<f32>> {
        let matrix = |a: &Csr<T>| a.with_values(super::narrow(a.values())?);
        let mut level = Level::coloured(matrix(&self.a)?, params.relaxation(), self.colours)?;
        if let Some(step) = &self.coarser {
            let context = self.a.context();
            level.coarser = Some(Coarser {
                prolong: matrix(&step.prolong)?,
                restrict: matrix(&step.restrict)?,
                b: Vector::uninit(context, step.b.len())?,
                x: Vector::uninit(context, step.x.len())?,
                kept: None,
                near: None,
            });
        }
        Ok(level)
    }
}
