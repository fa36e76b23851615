//! What real systems have and complex ones have not.

use clinalg::Complex;
use clinalg::automatic::{OnTeam, SystemScalar};
use clinalg::team::Team;

use super::method::{Method, Precond};
use super::run::{Job, Outcome, solve_columns};
use crate::exit::{Failure, usage};
use crate::output::Output;

/// The scalars of a system.
pub(super) trait Number: SystemScalar {
    /// Solves the system on several devices.
    fn on_team(team: &Team, job: Job<'_, Self>, out: &mut Output) -> Result<Outcome<Self>, Failure>;
}

macro_rules! numbers {
    ($($real:ident)*) => {$(
        impl Number for $real {
            fn on_team(team: &Team, job: Job<'_, Self>, out: &mut Output) -> Result<Outcome<Self>, Failure> {
                check(team, &job)?;
                solve_columns(OnTeam::new(team, job.parts)?, job, out)
            }
        }

        impl Number for Complex<$real> {
            fn on_team(_: &Team, _: Job<'_, Self>, _: &mut Output) -> Result<Outcome<Self>, Failure> {
                usage!("--devices works with real systems only, but this one is complex: leave out --devices")
            }
        }
    )*};
}

numbers!(f32 f64);

/// An error for what several devices do not solve.
fn check<T: Number>(team: &Team, job: &Job<'_, T>) -> Result<(), Failure> {
    let rows = job.parts.rows;
    let is_square = rows == job.parts.cols;
    if job.args.method.map_or(!is_square, Method::is_least_squares) {
        return usage!("least-squares methods run on one device: use --device instead of --devices");
    }
    if job.args.method == Some(Method::BlockCg) {
        return usage!(
            "--devices works with one right-hand side at a time, not with --method block-cg; use --method cg"
        );
    }
    if team.ranks() > rows {
        let (ranks, s) = (team.ranks(), if rows == 1 { "" } else { "s" });
        return usage!("--devices: {ranks} devices for a matrix with {rows} row{s}; use --device, or fewer devices");
    }
    let precond = job.args.precond;
    let runs = [Precond::Auto, Precond::None, Precond::Jacobi, Precond::Amg, Precond::Sa, Precond::Classical];
    if !runs.contains(&precond) {
        return usage!(
            "--devices works with --precond none, jacobi, amg, sa and classical, not with {}",
            precond.name()
        );
    }
    Ok(())
}
