//! Which factors, their parameters, and what is reported about them.

#[cfg(doc)]
use super::Factors;
use crate::Context;
use crate::runtime::KernelFamily;

/// Which factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// L L' of a Hermitian positive definite matrix: half the operations and half the memory of LU.
    Cholesky,
    /// L D L' of a Hermitian or complex symmetric matrix, with the operations and memory of Cholesky, and 1-by-1 and 2-by-2
    /// pivots chosen within each front. L' is the conjugate transpose of L for Hermitian matrices, otherwise its transpose.
    Ldl,
    /// L U with pivots from the rows of each front.
    Lu,
}

impl Kind {
    /// The name of the factorisation: `Cholesky`, `LDL` or `LU`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Cholesky => "Cholesky",
            Kind::Ldl => "LDL",
            Kind::Lu => "LU",
        }
    }
}

/// Parameters of [`Factors`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FactorsParams {
    /// Which factors. Default `None`: Cholesky's for a Hermitian matrix with positive diagonal entries, if all its pivots are positive;
    /// L D L' for other Hermitian and for complex symmetric matrices; otherwise those of LU.
    pub kind: Option<Kind>,
    /// The most steps of iterative refinement in a solve. Default 10; they end when the backward error no longer halves.
    pub refinements: usize,
    /// The most multiplications and additions of a factorisation; a matrix that needs more is an error before memory is allocated.
    /// Default: no limit.
    pub operations: f64,
}

impl Default for FactorsParams {
    fn default() -> FactorsParams {
        FactorsParams { kind: None, refinements: 10, operations: f64::INFINITY }
    }
}

impl FactorsParams {
    /// With these factors.
    pub fn kind(mut self, kind: Kind) -> FactorsParams {
        self.kind = Some(kind);
        self
    }

    /// With as many multiplications and additions as a device makes in seconds.
    pub fn within_seconds(context: &Context) -> FactorsParams {
        let operations = match context.family() {
            KernelFamily::Cpu => 2e11,
            KernelFamily::Gpu => 5e12,
        };
        FactorsParams::default().operations(operations)
    }

    /// With at most so many multiplications and additions.
    pub fn operations(mut self, most: f64) -> FactorsParams {
        self.operations = most;
        self
    }

    /// With at most so many steps of iterative refinement.
    pub fn refinements(mut self, steps: usize) -> FactorsParams {
        self.refinements = steps;
        self
    }
}

/// What a factorisation is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FactorsReport {
    /// Which factors.
    pub kind: Kind,
    /// Rows of the matrix.
    pub rows: usize,
    /// Stored numbers of the factors, with the zeros that joining supernodes adds.
    pub entries: usize,
    /// Multiplications and additions of a factorisation; complex ones count as one.
    pub operations: f64,
    /// Dense matrices in which pivots are eliminated.
    pub fronts: usize,
    /// The order of the largest front.
    pub largest_front: usize,
    /// Depths of the tree: steps that follow each other.
    pub levels: usize,
    /// Bytes of the device that the factors take.
    pub bytes: u64,
    /// More bytes of the device that a factorisation needs.
    pub work_bytes: u64,
    /// Pivots that were replaced by sqrt(eps), relative to the scaled matrix: those below that, or in the last front those that are zero up to
    /// rounding.
    pub replaced_pivots: usize,
    /// Whether rows were permuted for a large diagonal, or with L D L' factors pairs of rows kept together.
    pub is_matched: bool,
    /// How many eigenvalues have which sign; `None` where [`Factors::inertia`] is an error.
    pub inertia: Option<Inertia>,
}

/// How many eigenvalues of a Hermitian matrix are positive, negative and zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Inertia {
    /// Positive ones.
    pub positive: usize,
    /// Negative ones.
    pub negative: usize,
    /// Those found to be zero up to rounding. One that is as small may be counted by its sign as well: [`Factors::reciprocal_condition`] shows it.
    pub zero: usize,
}

impl Inertia {
    /// That of the negative of the matrix.
    pub fn negated(self) -> Inertia {
        Inertia { positive: self.negative, negative: self.positive, ..self }
    }
}

/// How well a system was solved.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Solved {
    /// The componentwise backward error max |b - A x| / (|A| |x| + |b|) over the rows (Oettli and Prager 1964): the solution is that of a
    /// matrix and a right-hand side whose entries differ by this share.
    pub backward_error: f64,
    /// Steps of iterative refinement.
    pub refinements: usize,
}
