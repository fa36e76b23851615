//! What real systems have and complex ones have not.

use clinalg::amg::Coarsening;
use clinalg::solve::{BlockScalar, Stopping};
use clinalg::team::Team;
use clinalg::{Complex, Context, Csr, CsrParts};

use super::hierarchy::hierarchy;
use super::method::{Made, Method};
use super::richardson::RichardsonSystem;
use super::saddle::saddle;
use super::team::TeamSystem;
use super::{AnySystem, Args};
use crate::exit::Failure;

/// The scalars of a system.
pub(super) trait Number: BlockScalar {
    /// Algebraic multigrid.
    fn hierarchy(a: &Csr<Self>, coarsening: Coarsening, args: &Args) -> Result<Made<Self>, Failure>;

    /// Blocks of a saddle point.
    fn saddle(a: &Csr<Self>, parts: &CsrParts<Self>, method: Method) -> Result<Made<Self>, Failure>;

    /// The system with Richardson iteration.
    fn stationary(
        context: &Context,
        args: &Args,
        stopping: &Stopping,
        parts: &CsrParts<Self>,
        b: &[Self],
    ) -> Result<Box<dyn AnySystem<Self>>, Failure>;

    /// The system on several devices.
    fn on_team(
        team: &Team,
        args: &Args,
        method: Method,
        stopping: &Stopping,
        parts: &CsrParts<Self>,
        b: &[Self],
    ) -> Result<Box<dyn AnySystem<Self>>, Failure>;
}

macro_rules! numbers {
    ($($real:ident)*) => {$(
        impl Number for $real {
            fn hierarchy(a: &Csr<$real>, coarsening: Coarsening, args: &Args) -> Result<Made<$real>, Failure> {
                hierarchy(a, coarsening, args)
            }

            fn saddle(a: &Csr<$real>, parts: &CsrParts<$real>, method: Method) -> Result<Made<$real>, Failure> {
                saddle(a, parts, method)
            }

            fn stationary(
                context: &Context,
                args: &Args,
                stopping: &Stopping,
                parts: &CsrParts<$real>,
                b: &[$real],
            ) -> Result<Box<dyn AnySystem<$real>>, Failure> {
                Ok(Box::new(RichardsonSystem::new(context, args, stopping, parts, b)?))
            }

            fn on_team(
                team: &Team,
                args: &Args,
                method: Method,
                stopping: &Stopping,
                parts: &CsrParts<$real>,
                b: &[$real],
            ) -> Result<Box<dyn AnySystem<$real>>, Failure> {
                Ok(Box::new(TeamSystem::new(team, args, method, stopping, parts, b)?))
            }
        }

        impl Number for Complex<$real> {
            fn hierarchy(_: &Csr<Self>, _: Coarsening, _: &Args) -> Result<Made<Self>, Failure> {
                Err(Failure::usage(
                    "algebraic multigrid is for real matrices; use --precond ic or ssor (Hermitian positive definite A), ilu or ilut",
                ))
            }

            fn saddle(_: &Csr<Self>, _: &CsrParts<Self>, _: Method) -> Result<Made<Self>, Failure> {
                Err(Failure::usage("--precond saddle is for real matrices; use ilut"))
            }

            fn stationary(
                _: &Context,
                _: &Args,
                _: &Stopping,
                _: &CsrParts<Self>,
                _: &[Self],
            ) -> Result<Box<dyn AnySystem<Self>>, Failure> {
                Err(Failure::usage("--method richardson is for real systems, this one is complex; use gmres or bicgstab"))
            }

            fn on_team(
                _: &Team,
                _: &Args,
                _: Method,
                _: &Stopping,
                _: &CsrParts<Self>,
                _: &[Self],
            ) -> Result<Box<dyn AnySystem<Self>>, Failure> {
                Err(Failure::usage("--devices works with real systems, this one is complex: leave --devices out"))
            }
        }
    )*};
}

numbers!(f32 f64);
