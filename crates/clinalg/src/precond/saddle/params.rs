//! Parameters and reports of block preconditioners.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How the blocks are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SaddleShape {
    /// M = [A 0; 0 S], symmetric positive definite where A and S are: for MINRES.
    #[default]
    Diagonal,
    /// M = [A B'; 0 -S]: for GMRES, BiCGStab and IDR(s), in about half the iterations.
    Triangular,
}

/// A preconditioner of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Inner {
    /// Algebraic multigrid with its default parameters.
    Amg,
    /// IC(0).
    Ic,
    /// ILU(0).
    Ilu,
    /// The diagonal.
    Jacobi,
}

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Inner::Amg => "algebraic multigrid",
            Inner::Ic => "IC(0)",
            Inner::Ilu => "ILU(0)",
            Inner::Jacobi => "Jacobi",
        })
    }
}

/// The approximation of the Schur complement S = B A^-1 B' + C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Schur {
    /// `Product` where A is close to its diagonal: 20 iterations of GMRES with the diagonal reduce a residual to a thousandth. Else `Diagonal`.
    #[default]
    Auto,
    /// B diag(A)^-1 B' + C: where A is a mass matrix, or has one as its larger part (mixed elements, short time steps, quadratic programs).
    Product,
    /// The diagonal of that matrix: where A is a differential operator of second order and B of first order (Stokes), for which S is close to a
    /// mass matrix.
    Diagonal,
}

/// Parameters of [`Saddle`](super::Saddle).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SaddleParams {
    /// How the blocks are combined. Default [`SaddleShape::Diagonal`].
    pub shape: SaddleShape,
    /// The preconditioner of A. `None`, the default: algebraic multigrid for a symmetric A with a positive diagonal, or IC(0) or Jacobi where it cannot
    /// be made; else ILU(0) or Jacobi.
    pub first: Option<Inner>,
    /// The approximation of the Schur complement. Default [`Schur::Auto`].
    pub schur: Schur,
    /// The preconditioner of [`Schur::Product`]; `None` chooses as for A.
    pub second: Option<Inner>,
}

impl SaddleParams {
    /// With blocks combined in this way.
    pub fn shape(mut self, shape: SaddleShape) -> SaddleParams {
        self.shape = shape;
        self
    }

    /// With this preconditioner of A.
    pub fn first(mut self, first: Inner) -> SaddleParams {
        self.first = Some(first);
        self
    }

    /// With this approximation of the Schur complement.
    pub fn schur(mut self, schur: Schur) -> SaddleParams {
        self.schur = schur;
        self
    }

    /// With this preconditioner of B diag(A)^-1 B' + C.
    pub fn second(mut self, second: Inner) -> SaddleParams {
        self.second = Some(second);
        self
    }
}

/// What a block preconditioner uses for the Schur complement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SchurKind {
    /// The diagonal of a mass matrix that was given.
    Mass,
    /// The diagonal of B diag(A)^-1 B' + C.
    Diagonal,
    /// B diag(A)^-1 B' + C with this preconditioner.
    Product(Inner),
    /// The caller's.
    Given,
}

/// What a block preconditioner is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SaddleReport {
    /// How the blocks are combined.
    pub shape: SaddleShape,
    /// Rows of A.
    pub first_rows: usize,
    /// Rows of C.
    pub second_rows: usize,
    /// The preconditioner of A; `None` for the caller's.
    pub first: Option<Inner>,
    /// The approximation of the Schur complement.
    pub schur: SchurKind,
    /// Whether the matrix maps the vector with ones in the second block and zeros elsewhere to zero up to rounding: the pressure of an enclosed flow
    /// is determined only up to a constant. Solutions exist where the values of b in the second block add up to 0.
    pub null_constant: bool,
}

impl fmt::Display for SaddleReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = match self.shape {
            SaddleShape::Diagonal => "block diagonal",
            SaddleShape::Triangular => "block triangular",
        };
        write!(f, "{shape}, {} + {} rows, first block: ", self.first_rows, self.second_rows)?;
        match self.first {
            Some(inner) => write!(f, "{inner}")?,
            None => write!(f, "given")?,
        }
        match self.schur {
            SchurKind::Mass => write!(f, ", Schur complement: diagonal of the mass matrix given")?,
            SchurKind::Diagonal => write!(f, ", Schur complement: diagonal of B diag(A)^-1 B' + C")?,
            SchurKind::Product(inner) => write!(f, ", Schur complement: B diag(A)^-1 B' + C by {inner}")?,
            SchurKind::Given => write!(f, ", Schur complement: given")?,
        }
        if self.null_constant {
            write!(f, "; singular: constants of the second block are null vectors")?;
        }
        Ok(())
    }
}
