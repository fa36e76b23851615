//! Systems of `clinalg solve` on several devices.

use clinalg::solve::{GmresParams, KrylovMemory, Report, Stopping};
use clinalg::team::{self, Partition, Team};
use clinalg::{CsrParts, Error, Real};

use super::hierarchy;
use super::method::{Method, Precond};
use super::{AnySystem, Args};
use crate::exit::Failure;
use crate::interrupt;

/// A preconditioner with a description of what was made.
pub(super) type Made<T> = Option<(Box<dyn team::Preconditioner<T>>, String)>;

/// A system on several devices, with rows by entries.
pub(super) struct TeamSystem<T: Real> {
    a: team::Csr<T>,
    b: team::Vector<T>,
    x: team::Vector<T>,
    /// The name of `preconditioner`.
    precond: Precond,
    preconditioner: Made<T>,
    solver: TeamSolver<T>,
}

enum TeamSolver<T: Real> {
    Cg(team::Cg<T>),
    BiCgStab(Box<team::BiCgStab<T>>),
    Gmres(team::Gmres<T>),
}

impl<T: Real> TeamSolver<T> {
    fn new(
        team: &Team,
        partition: &Partition,
        args: &Args,
        method: Method,
        stopping: Stopping,
    ) -> Result<TeamSolver<T>, Failure> {
        Ok(match method {
            Method::Cg => TeamSolver::Cg(team::Cg::new(team, partition, stopping.into())?),
            Method::BiCgStab => TeamSolver::BiCgStab(Box::new(team::BiCgStab::new(team, partition, stopping.into())?)),
            Method::Gmres => {
                let params = GmresParams::from(stopping).restart(args.sizes().restart);
                TeamSolver::Gmres(team::Gmres::new(team, partition, params)?)
            }
            other => return Err(unsupported(other)),
        })
    }
}

impl<T: Real> TeamSystem<T> {
    pub(super) fn new(
        team: &Team,
        args: &Args,
        method: Method,
        stopping: &Stopping,
        parts: &CsrParts<T>,
        b: &[T],
    ) -> Result<TeamSystem<T>, Failure> {
        check(team, method, parts.rows)?;
        let partition = &Partition::by_entries(&parts.offsets, &vec![1.0; team.ranks()])?;
        let a = team::Csr::new(team, parts, partition)?;
        let (precond, preconditioner) = made(team, parts, partition, args)?;
        let solver = TeamSolver::new(team, partition, args, method, stopping.clone())?;
        let (b, x) = (team::Vector::from_slice(team, partition, b)?, team::Vector::zeros(team, partition)?);
        Ok(TeamSystem { a, b, x, precond, preconditioner, solver })
    }
}

fn unsupported(method: Method) -> Failure {
    let words = match method.is_least_squares() {
        true => "least-squares methods run on one device: use --device instead of --devices".into(),
        false => format!("--devices works with --method cg, bicgstab and gmres, not with {}", method.name()),
    };
    Failure::usage(words)
}

/// An error for what several devices do not solve.
fn check(team: &Team, method: Method, rows: usize) -> Result<(), Failure> {
    if !matches!(method, Method::Cg | Method::BiCgStab | Method::Gmres) {
        return Err(unsupported(method));
    }
    if team.ranks() > rows {
        let (ranks, s) = (team.ranks(), if rows == 1 { "" } else { "s" });
        let words =
            format!("--devices: {ranks} devices for a matrix with {rows} row{s}; use --device, or fewer devices");
        return Err(Failure::usage(words));
    }
    Ok(())
}

/// The preconditioner that was named or chosen. Where chosen multigrid cannot be made, the diagonal stands in.
fn made<T: Real>(
    team: &Team,
    parts: &CsrParts<T>,
    partition: &Partition,
    args: &Args,
) -> Result<(Precond, Made<T>), Failure> {
    let jacobi = || -> Result<Made<T>, Failure> {
        Ok(Some((Box::new(team::Jacobi::new(team, partition, &parts.diagonal())?), String::new())))
    };
    let made = match (args.precond, args.precond.coarsening()) {
        (precond, Some(coarsening)) => match hierarchy::on_team(team, parts, partition, coarsening, args) {
            Err(Failure::Library(error)) if args.may_fall_back() && is_unsuited(&error) => {
                log::warn!(
                    "algebraic multigrid could not be set up ({error}); using {} instead",
                    Precond::Jacobi.title()
                );
                return Ok((Precond::Jacobi, jacobi()?));
            }
            made => (precond, made?),
        },
        (Precond::None, _) => (Precond::None, None),
        (Precond::Jacobi, _) => (Precond::Jacobi, jacobi()?),
        (other, _) => {
            let words = format!(
                "--devices works with --precond none, jacobi, amg, sa and classical, not with {}",
                other.name()
            );
            return Err(Failure::usage(words));
        }
    };
    Ok(made)
}

/// Whether another preconditioner may do, after an error on a rank.
fn is_unsuited(error: &Error) -> bool {
    match error {
        Error::Rank { source, .. } => is_unsuited(source),
        error => clinalg::precond::is_unsuited(error),
    }
}

impl<T: Real> AnySystem<T> for TeamSystem<T> {
    fn stopping_mut(&mut self) -> &mut Stopping {
        match &mut self.solver {
            TeamSolver::Cg(solver) => solver.stopping_mut(),
            TeamSolver::BiCgStab(solver) => solver.stopping_mut(),
            TeamSolver::Gmres(solver) => solver.stopping_mut(),
        }
    }

    fn change_method(&mut self, args: &Args, method: Method, stopping: Stopping) -> Result<(), Failure> {
        let TeamSystem { b, solver, .. } = self;
        *solver = TeamSolver::new(b.team(), b.partition(), args, method, stopping)?;
        Ok(())
    }

    fn storage(&self) -> String {
        self.a.explain()
    }

    fn precond(&self) -> Option<Precond> {
        Some(self.precond)
    }

    fn preconditioner(&self) -> String {
        self.preconditioner.as_ref().map_or_else(String::new, |made| made.1.clone())
    }

    fn set_right_side(&mut self, b: &[T]) -> Result<(), Failure> {
        Ok(self.b.write(b)?)
    }

    fn start_from(&mut self, x: Option<&[T]>) -> Result<(), Failure> {
        match x {
            Some(x) => self.x.write(x)?,
            None => self.x.fill(T::zero())?,
        }
        Ok(())
    }

    fn solution(&self) -> Result<Vec<T>, Failure> {
        let mut values = vec![T::zero(); self.x.len()];
        self.x.read(&mut values)?;
        self.x.team().gather(self.x.partition(), 1, &mut values)?;
        Ok(values)
    }

    fn solve(
        &mut self,
        _: Option<&mut KrylovMemory<T>>,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Report, Failure> {
        let TeamSystem { a, b, x, preconditioner, solver, .. } = self;
        let m = preconditioner.as_mut().map(|(m, _)| &mut **m as &mut dyn team::Preconditioner<T>);
        let progress = &mut |iteration, residual| {
            progress(iteration, residual);
            interrupt::go_on()
        };
        Ok(match solver {
            TeamSolver::Cg(solver) => solver.solve_with(a, m, b, x, progress)?,
            TeamSolver::BiCgStab(solver) => solver.solve_with(a, m, b, x, progress)?,
            TeamSolver::Gmres(solver) => solver.solve_with(a, m, b, x, progress)?,
        })
    }
}
