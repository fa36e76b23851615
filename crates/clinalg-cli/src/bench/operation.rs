//! What can be measured.

use clap::ValueEnum;
use clinalg_bem::heat::Kind;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::value_name;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub(super) enum Operation {
    /// out = x
    Copy,
    /// out = alpha x + beta y
    Axpby,
    /// y = alpha x + beta y
    Update,
    /// out = alpha x
    Scale,
    /// out = x .* y
    Multiply,
    /// Sum of the values
    Sum,
    /// Dot product
    Dot,
    /// Sum of the magnitudes
    Norm1,
    /// Euclidean norm
    Norm2,
    /// Largest magnitude
    NormInf,
    /// y = A x, 5-point matrix in compressed rows
    MvCsrPoisson5,
    /// y = A x, band matrix with two sub- and two superdiagonals
    MvBand,
    /// y = A x, dense N x N matrix
    MvDense,
    /// y = A' x, dense N x N matrix
    MvDenseTransposed,
    /// A sweep of weighted Jacobi on the grid
    Jacobi,
    /// Five sweeps of weighted Jacobi, on a GPU in one pass
    JacobiFused,
    /// A sweep of red-black Gauss-Seidel on the grid
    RedBlack,
    /// d = f + Laplace_h u
    Defect,
    /// Full weighting to the next coarser grid
    Restrict,
    /// Bilinear interpolation from the next coarser grid
    Interpolate,
    /// A V(2,1) cycle with its residual norm: a quarter of four cycles from zero
    PoissonVcycle,
    /// Poisson from zero to a relative residual of 1e-10 (f32: 1e-5) by V(2,1) cycles
    PoissonSolve,
    /// The same by W(2,1) cycles
    PoissonSolveW,
    /// One pass of full multigrid with a V(2,1) cycle a level, and its residual
    PoissonFmg,
    /// The same on the cube, N^3 points
    #[value(name = "poisson3_fmg")]
    #[serde(rename = "poisson3_fmg")]
    Poisson3Fmg,
    /// A leapfrog step of the wave equation
    WaveLeapfrog,
    /// Eight leapfrog steps in one pass
    WaveFused,
    /// An iteration of conjugate gradients on the interior 5-point matrix: a hundredth of 100 from zero
    CgIteration,
    /// Host time to enqueue one kernel, without its run: out = alpha x on 1024 values
    Enqueue,
    /// Conjugate gradients to 1e-10 (f32: 1e-5) on the interior 5-point matrix; long
    CgPoisson,
    /// C = A B, dense N x N matrices
    Gemm,
    /// P A = L U of a dense N x N matrix
    Lu,
    /// A = L L' of a symmetric positive definite N x N matrix
    Cholesky,
    /// A = Q R of a dense N x N matrix
    Qr,
    /// L X = B with a lower triangular L and N right-hand sides
    TriangularSolve,
    /// y = V x, single layer of the heat equation on the fly
    HeatV,
    /// y = K x, double layer
    HeatK,
    /// y = Ks x, adjoint double layer
    HeatKs,
    /// y = D x, hypersingular operator
    HeatD,
}

impl Operation {
    /// Of the grid that it works on.
    pub(super) fn dimensions(self) -> usize {
        if self == Operation::Poisson3Fmg { 3 } else { 2 }
    }

    /// Whether it is measured only when it is named.
    pub(super) fn is_special(self) -> bool {
        matches!(self, Operation::CgPoisson | Operation::Poisson3Fmg) || self.is_bound_by_arithmetic()
    }

    /// Whether its limit is the rate of multiplications with additions.
    pub(super) fn is_bound_by_arithmetic(self) -> bool {
        let dense = [Operation::Gemm, Operation::Lu, Operation::Cholesky, Operation::Qr, Operation::TriangularSolve];
        self.heat().is_some() || dense.contains(&self)
    }

    /// The heat operator that it applies.
    pub(super) fn heat(self) -> Option<Kind> {
        match self {
            Operation::HeatV => Some(Kind::V),
            Operation::HeatK => Some(Kind::K),
            Operation::HeatKs => Some(Kind::Ks),
            Operation::HeatD => Some(Kind::D),
            _ => None,
        }
    }

    /// As on the command line.
    pub(super) fn name(self) -> String {
        value_name(&self)
    }
}

/// What bounds the speed of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Limit {
    Copy,
    Read,
    Fma,
}

/// What an operation computes, where that bounds it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) flops: f64,
    /// Pairs of quadrature points and blocks, of the published algorithms for heat operators.
    pub(super) evaluations: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_the_names_of_the_help() {
        let names: Vec<String> = Operation::value_variants().iter().map(|&o| o.name()).collect();
        for expected in [
            "copy",
            "norm_inf",
            "mv_csr_poisson5",
            "mv_dense_transposed",
            "poisson_vcycle",
            "cg_poisson",
            "triangular_solve",
        ] {
            assert!(names.iter().any(|n| n == expected), "{expected} in {names:?}");
        }
        for &operation in Operation::value_variants() {
            assert_eq!(serde_json::to_value(operation).unwrap(), operation.name());
        }
    }
}
