//! Sparse matrices made of sparse matrices.

use super::{Argument, Function, Kind, LIBRARY, Offer};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "sparse_multiply",
        title: "C = A B of sparse matrices.",
        arguments: &[
            Argument::new("a", Kind::Handle),
            Argument::new("b", Kind::Handle),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_sparse_multiply"]),
        matlab: Offer::Names(&["MexSparseMultiply"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "sparse_add",
        title: "C = alpha A + beta B of sparse matrices with any sparsity patterns.",
        arguments: &[
            Argument::new("alpha", Kind::Complex),
            Argument::new("a", Kind::Handle),
            Argument::new("beta", Kind::Complex),
            Argument::new("b", Kind::Handle),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_sparse_add"]),
        matlab: Offer::Names(&["MexSparseAdd"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "sparse_range",
        title: "A block of a sparse matrix.",
        arguments: &[
            Argument::new("a", Kind::Handle),
            Argument::new("first_row", Kind::Count),
            Argument::new("row_count", Kind::Count),
            Argument::new("first_col", Kind::Count),
            Argument::new("col_count", Kind::Count),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_sparse_range"]),
        matlab: Offer::Names(&["MexSparsePart"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "sparse_select",
        title: "Rows and columns of a sparse matrix by their numbers.",
        arguments: &[
            Argument::new("a", Kind::Handle),
            Argument::new("rows", Kind::Counts),
            Argument::new("row_count", Kind::Count),
            Argument::new("cols", Kind::Counts),
            Argument::new("col_count", Kind::Count),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_sparse_select"]),
        matlab: Offer::Names(&["MexSparsePart"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "sparse_band",
        title: "Some diagonals of a sparse matrix: triangles, the diagonal as a matrix.",
        arguments: &[
            Argument::new("a", Kind::Handle),
            Argument::new("low", Kind::Real),
            Argument::new("high", Kind::Real),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_sparse_band"]),
        matlab: Offer::Names(&["MexSparseBand"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "sparse_write",
        title: "Replaces the values of a sparse matrix and keeps their positions.",
        arguments: &[
            Argument::new("a", Kind::Handle),
            Argument::new("precision", Kind::Code),
            Argument::new("values", Kind::Values),
            Argument::new("count", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_sparse_write"]),
        matlab: Offer::Missing("`S(:,:) = T` and a new upload take the place of it"),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "sparse_drop_zeros",
        title: "Removes stored zeros and counts what is left.",
        arguments: &[Argument::new("a", Kind::Handle), Argument::new("entries", Kind::CountResult)],
        c: Offer::Names(&["clinalg_sparse_drop_zeros"]),
        matlab: Offer::Names(&["MexDropZeros"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "nonzeros",
        title: "The entries that are not zero, column by column.",
        arguments: &[Argument::new("a", Kind::Handle), Argument::new("handle", Kind::Output)],
        c: Offer::Names(&["clinalg_sparse_nonzeros"]),
        matlab: Offer::Names(&["MexNonzeros"]),
        program: Offer::Missing(LIBRARY),
    },
];
