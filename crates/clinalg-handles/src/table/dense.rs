//! Factorisations of dense matrices.

use super::{Argument, Function, Kind, LIBRARY, Offer};

/// Why C has no function for one factorisation.
const FACTORS: &str = "clinalg_factorisation_factors gives the factors of an object";

/// Why MATLAB has no objects of factors.
const DECOMPOSED: &str = "`lu`, `chol` and `qr` give the factors as arrays, with which `\\` solves by substitution";

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "solve_dense",
        title: "Solves A X = B for a dense A, real or complex, by LU, Cholesky or QR.",
        arguments: &[
            Argument::new("factorisation", Kind::Code),
            Argument::new("a", Kind::Handle),
            Argument::new("b", Kind::Handle),
            Argument::new("x", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_dense_solve"]),
        matlab: Offer::Names(&["MexSolveDense"]),
        program: Offer::Missing("`clinalg solve` takes sparse systems"),
    },
    Function {
        name: "lu",
        title: "L and U of a dense matrix with the order of its rows.",
        arguments: &[],
        c: Offer::Missing(FACTORS),
        matlab: Offer::Names(&["MexLu"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "cholesky",
        title: "L with A = L L' of a Hermitian positive definite dense matrix.",
        arguments: &[],
        c: Offer::Missing(FACTORS),
        matlab: Offer::Names(&["MexCholesky"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "qr",
        title: "Q and R of a dense matrix.",
        arguments: &[],
        c: Offer::Missing(FACTORS),
        matlab: Offer::Names(&["MexQr"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "inverse",
        title: "The inverse of a square dense matrix.",
        arguments: &[
            Argument::new("a", Kind::Handle),
            Argument::new("handle", Kind::Output),
            Argument::new("reciprocal_condition", Kind::RealResult),
        ],
        c: Offer::Names(&["clinalg_dense_inverse"]),
        matlab: Offer::Names(&["MexInverse"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "determinant",
        title: "The determinant of a square dense matrix.",
        arguments: &[Argument::new("a", Kind::Handle), Argument::new("result", Kind::ComplexResult)],
        c: Offer::Names(&["clinalg_dense_determinant"]),
        matlab: Offer::Names(&["MexDeterminant"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "solve_triangular",
        title: "Solves op(A) X = b for a triangle of a dense matrix.",
        arguments: &[
            Argument::new("triangle", Kind::Code),
            Argument::new("transpose", Kind::Code),
            Argument::new("unit", Kind::Flag),
            Argument::new("a", Kind::Handle),
            Argument::new("b", Kind::Handle),
            Argument::new("x", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_dense_solve_triangular"]),
        matlab: Offer::Missing("`\\` finds triangles and solves by substitution"),
        program: Offer::Missing("`clinalg solve` takes sparse systems"),
    },
    Function {
        name: "factorisation",
        title: "The factors of a dense matrix, for many right-hand sides.",
        arguments: &[
            Argument::new("factorisation", Kind::Code),
            Argument::new("a", Kind::Handle),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_factorisation_create"]),
        matlab: Offer::Missing(DECOMPOSED),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "factorisation_solve",
        title: "Solves op(A) X = b with factors of A.",
        arguments: &[
            Argument::new("factorisation", Kind::Handle),
            Argument::new("transpose", Kind::Code),
            Argument::new("b", Kind::Handle),
            Argument::new("x", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_factorisation_solve"]),
        matlab: Offer::Missing(DECOMPOSED),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "factorisation_factors",
        title: "The factors as dense matrices.",
        arguments: &[
            Argument::new("factorisation", Kind::Handle),
            Argument::new("first", Kind::Output),
            Argument::new("second", Kind::Output),
            Argument::new("rows", Kind::CountResult),
            Argument::new("capacity", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_factorisation_factors"]),
        matlab: Offer::Missing(DECOMPOSED),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "factorisation_determinant",
        title: "The determinant, from factors.",
        arguments: &[Argument::new("factorisation", Kind::Handle), Argument::new("result", Kind::ComplexResult)],
        c: Offer::Names(&["clinalg_factorisation_determinant"]),
        matlab: Offer::Missing(DECOMPOSED),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "factorisation_inverse",
        title: "The inverse, from factors.",
        arguments: &[Argument::new("factorisation", Kind::Handle), Argument::new("handle", Kind::Output)],
        c: Offer::Names(&["clinalg_factorisation_inverse"]),
        matlab: Offer::Missing(DECOMPOSED),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "factorisation_condition",
        title: "An estimate of the reciprocal condition number, from the factors of LU.",
        arguments: &[Argument::new("factorisation", Kind::Handle), Argument::new("result", Kind::RealResult)],
        c: Offer::Names(&["clinalg_factorisation_condition"]),
        matlab: Offer::Missing(DECOMPOSED),
        program: Offer::Missing(LIBRARY),
    },
];
