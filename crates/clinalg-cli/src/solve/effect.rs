//! Options that would have no effect.

use clinalg::automatic::PreconditionerKind;

use super::Args;
use super::method::{CycleArg, Method, Precond};
use crate::exit::{Failure, usage};

impl Args {
    /// An error for the first option that neither the preconditioner nor the method heeds; both are those in use.
    pub(super) fn check_effect(&self, method: Method, precond: Precond) -> Result<(), Failure> {
        use Precond::{Ic, Ilu, Ilut, Ssor};
        let amg = precond.kind().is_some_and(PreconditionerKind::is_multigrid);
        let one_of = |preconds: &[Precond]| preconds.contains(&precond);
        let options = [
            (self.amg_options(), amg, "amg"),
            (self.report.then_some("--report"), amg, "amg"),
            (self.omega.map(|_| "--omega"), one_of(&[Ssor]), "ssor"),
            (self.sweeps.map(|_| "--sweeps"), one_of(&[Ilu, Ic]), "ilu or ic"),
            (self.order.map(|_| "--order"), one_of(&[Ilu, Ilut, Ic, Ssor]), "ilu, ilut, ic or ssor"),
            (self.given_drop.map(|_| "--drop"), one_of(&[Ilut]), "ilut"),
            (self.inertia.then_some("--inertia"), one_of(&[Precond::Lu]), "lu (--method direct)"),
            (self.determinant.then_some("--determinant"), one_of(&[Precond::Lu]), "lu (--method direct)"),
            (self.given_fill.map(|_| "--fill"), one_of(&[Ilut]), "ilut"),
        ];
        for (option, has_effect, preconds) in options {
            if let Some(option) = option.filter(|_| !has_effect) {
                let chosen = if self.precond == Precond::Auto { ", which was chosen from the matrix" } else { "" };
                return usage!("{option} is for --precond {preconds}, not for {}{chosen}", precond.name());
            }
        }
        if self.aggressive && precond == Precond::Sa {
            return usage!("--aggressive is for classical coarsening: use --precond classical, not sa");
        }
        if self.cycle == Some(CycleArg::K) && !matches!(method, Method::Fcg | Method::Richardson) {
            return usage!(
                "--cycle k varies from one iteration to the next, which only --method fcg and richardson allow, not {}",
                method.name()
            );
        }
        if self.idr_dimension.is_some() && method != Method::Idrs {
            return usage!("--idr-dimension is for --method idrs, not for {}", method.name());
        }
        // GMRES takes over from a method that was chosen here, but for least squares.
        let takes_restart = method == Method::Gmres || (self.method.is_none() && !method.is_least_squares());
        if self.given_restart.is_some() && !takes_restart {
            return usage!("--restart is for --method gmres, not for {}", method.name());
        }
        Ok(())
    }
}
