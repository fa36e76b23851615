//! Teams of devices on handles.
//!
//! Vectors and grids of a call are objects on one device, from and to which their values are copied.

use clinalg::amg::AmgParams;
use clinalg::multigrid::{Grid, PoissonParams, PoissonReport};
use clinalg::precond::Jacobi;
use clinalg::solve::{Preconditioner, Progress, Report, Stopping};
use clinalg::team::{self, Team};
use clinalg::wave::WaveParams;
use clinalg::{Context, ContextOptions, Error, Precision, Real, Result, runtime};

use super::solve::{INVERSE, Method, Preconditioning};
use super::solver::solver_of;
use super::wave::of_lengths;
use crate::calls::sparse::sparse;
use crate::kind::{Kind, ScalarType};
use crate::object::{Distributed, Membrane, Object, TeamAmg, typed_real};
use crate::registry::{Operand, Registry};

fn team_of(object: &Object) -> &Team {
    object.expect_content()
}

impl Registry {
    /// A team of the devices of these indices, in the order of their ranks: [`Team::new`]. Gives its handle, which [`Registry::release`] takes with
    /// [`Kind::TEAM`].
    ///
    /// # Errors
    /// [`Error::Value`] for no device, an index that no device has and one that is named twice.
    pub fn team(&self, devices: &[usize]) -> Result<u64> {
        if devices.is_empty() {
            return Err(Error::value("devices", "at least one device", 0));
        }
        let known = runtime::devices()?;
        let find = |&index: &usize| {
            let expected = || format!("indices below {}, the number of devices", known.len());
            known.get(index).cloned().ok_or_else(|| Error::value("devices", expected(), index))
        };
        let devices: Vec<_> = devices.iter().map(find).collect::<Result<_>>()?;
        Ok(self.insert(Team::new(&devices, &ContextOptions::default())?))
    }

    /// The indices of the devices of a team.
    ///
    /// # Errors
    /// [`Error::Handle`].
    pub fn team_devices(&self, team: u64) -> Result<Vec<usize>> {
        self.call(&[Operand::new("team", team, Kind::TEAM)], None, |inputs, _| {
            Ok(team_of(inputs[0]).contexts().iter().map(|context| context.device().index).collect())
        })
    }

    /// A real sparse matrix with its rows distributed over the devices of a team, about as many entries for each: what
    /// [`Registry::solve`] takes in place of a matrix. Keeps nothing of `a`.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for complex values and for fewer rows than devices; [`Error::Shape`] unless `a` is square; as
    /// [`Error::Rank`], what a device reports.
    pub fn team_matrix(&self, team: u64, a: u64) -> Result<u64> {
        let operands = [Operand::new("team", team, Kind::TEAM), Operand::new("a", a, Kind::SPARSE)];
        let object = self.call(&operands, None, |inputs, _| {
            typed_real!(inputs[1], "a", T => {
                let parts = sparse::<T>(inputs[1], "a")?.to_parts()?;
                Ok(Object::from(Distributed::new(team_of(inputs[0]), &parts)?))
            })
        })?;
        Ok(self.insert(object))
    }

    /// Algebraic multigrid for a matrix on a team: [`team::Amg`]. `a` is the sparse matrix that `matrix` was made of, of which nothing is kept.
    /// [`Registry::solve`] takes its handle as [`Preconditioning::Inverse`] for that matrix, [`Registry::release`] with [`Kind::TEAM_AMG`].
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Precision`]; [`Error::Shape`] for a matrix of another size; those of [`team::Amg::new`].
    pub fn team_amg(&self, matrix: u64, a: u64, params: &AmgParams) -> Result<u64> {
        let operands = [Operand::new("matrix", matrix, Kind::TEAM_MATRIX), Operand::new("a", a, Kind::SPARSE)];
        let object = self.call(&operands, None, |inputs, _| {
            typed_real!(inputs[0], "matrix", T => {
                let matrix = inputs[0].expect_content::<Distributed<T>>();
                let a = sparse::<T>(inputs[1], "a")?;
                if (a.rows(), a.nnz()) != (matrix.rows, matrix.entries) {
                    let words = |rows: usize, entries: usize| format!("{rows} rows and {entries} entries");
                    let expected = words(matrix.rows, matrix.entries) + ", as the matrix on the team";
                    return Err(Error::Shape { argument: "a", expected, got: words(a.rows(), a.nnz()) });
                }
                Ok(Object::from(TeamAmg::new(matrix, &a.to_parts()?, params)?))
            })
        })?;
        Ok(self.insert(object))
    }

    /// Solves -Laplace u + c u = f on strips of the unit square or slabs of the unit cube, one for each device of a team, from
    /// u, which has the values on the boundary, or from zeros: [`team::Poisson`]. `progress`, as in
    /// [`team::Poisson::solve_with`], must not use the grids. Gives the handle of u.
    ///
    /// # Errors
    /// As [`Registry::solve`]; those of [`team::Poisson::new`].
    pub fn team_poisson(
        &self,
        team: u64,
        (f, u): (u64, Option<u64>),
        (grid, params): (&Grid, &PoissonParams),
        progress: Progress<'_>,
    ) -> Result<(u64, PoissonReport)> {
        let inputs = [Operand::new("team", team, Kind::TEAM), Operand::new("f", f, Kind::FULL)];
        self.solve_into(u, ("f", f), |u| {
            self.call(&inputs, Some(Operand::new("u", u, Kind::FULL)), |inputs, output| {
                let Some(output) = output else { unreachable!("an output was named") };
                typed_real!(inputs[1], "f", T => {
                    let f = inputs[1].stored::<T>("f")?.full("f")?;
                    let u = output.stored_mut::<T>("u")?.full_mut("u")?;
                    let mut solver = team::Poisson::<T>::new(team_of(inputs[0]), grid, params)?;
                    let mut values = u.to_vec()?;
                    let report = solver.solve_with(&f.to_vec()?, &mut values, progress)?;
                    u.write(&values)?;
                    Ok(report)
                })
            })
        })
    }

    /// A wave at rest on strips of a square, one for each device of a team: [`team::Wave`]. Everything that takes the handle of
    /// [`Registry::wave`] takes this one; grids that are read live in `context`.
    ///
    /// # Errors
    /// [`Error::Handle`] and those of [`team::Wave::new`].
    pub fn team_wave(&self, team: u64, context: &Context, precision: Precision, params: &WaveParams) -> Result<u64> {
        let wave = self.call(&[Operand::new("team", team, Kind::TEAM)], None, |inputs, _| {
            let team = team_of(inputs[0]);
            let wave = match precision {
                Precision::F32 => Membrane::<f32>::on_team(context, team, params).map(Object::from),
                Precision::F64 => Membrane::<f64>::on_team(context, team, params).map(Object::from),
            };
            wave.map_err(of_lengths)
        })?;
        Ok(self.insert(wave))
    }
}

/// Solves A x = b for a matrix on a team.
pub(super) fn solve<T: Real>(
    (method, preconditioning): (Method, Preconditioning),
    a: &Distributed<T>,
    (b, inverse): (&Object, Option<&Object>),
    x: &mut Object,
    (stopping, progress): (&Stopping, Progress<'_>),
) -> Result<Report> {
    let b = b.stored::<T>("b")?.vector("b")?;
    let x = x.stored_mut::<T>("x")?.vector_mut("x")?;
    for (argument, got) in [("b", b.len()), ("x", x.len())] {
        if got != a.rows {
            return Err(Error::Length { argument, expected: a.rows, got });
        }
    }
    let (team, partition) = (a.layout().team(), a.layout().partition());
    let right = team::Vector::from_slice(team, partition, &b.to_vec()?)?;
    let mut left = team::Vector::from_slice(team, partition, &x.to_vec()?)?;
    let mut jacobi;
    let mut amg;
    let m: Option<&mut dyn Preconditioner<T, team::Vector<T>>> = match preconditioning {
        Preconditioning::None => None,
        Preconditioning::Jacobi => {
            jacobi = Jacobi::like(&right, &a.diagonal)?;
            Some(&mut jacobi)
        }
        Preconditioning::Inverse(_) => {
            let inverse = inverse.expect("it was named");
            let object = inverse.content::<TeamAmg<T>>();
            let hierarchy = object.ok_or_else(|| inverse.scalar().mismatch(INVERSE, ScalarType::of::<T>()))?;
            if hierarchy.rows != a.rows {
                let (expected, got) = (format!("{0} x {0}", a.rows), format!("{0} x {0}", hierarchy.rows));
                return Err(Error::Shape { argument: INVERSE, expected, got });
            }
            amg = hierarchy.lock()?;
            Some(&mut *amg)
        }
        Preconditioning::Of(_) | Preconditioning::Saddle => {
            let reason = "a matrix on a team takes none, the diagonal (jacobi) or algebraic multigrid that was made for it on the team; the other \
                          preconditioners are for matrices on one device";
            return Err(Error::unsuitable(INVERSE, reason));
        }
    };
    let report = solver_of(method, &right, stopping)?.solve_with(&a.matrix, m, &right, &mut left, progress)?;
    let mut values = vec![T::zero(); a.rows];
    left.read(&mut values)?;
    x.write(&values)?;
    Ok(report)
}
