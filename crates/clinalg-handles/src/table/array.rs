//! Arrays by parts, element by element and along a dimension.

use super::{Argument, Function, Kind, LIBRARY, Offer};

/// Why C has none of these yet.
const ARRAYS: &str = "an array operation of MATLAB; C has the vector operations";

/// Why C has no operations that look at their operands first.
const SMALL: &str = "what costs an interpreter several calls is cheap in C";

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "take",
        title: "Rows and columns of a vector or dense matrix.",
        arguments: &[],
        c: Offer::Missing(ARRAYS),
        matlab: Offer::Names(&["MexTake", "MexTakeLinear"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "put",
        title: "Writes rows and columns of a vector or dense matrix.",
        arguments: &[],
        c: Offer::Missing(ARRAYS),
        matlab: Offer::Names(&["MexPut", "MexPutLinear"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "map",
        title: "A function of each element.",
        arguments: &[],
        c: Offer::Missing(ARRAYS),
        matlab: Offer::Names(&["MexMap"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "map2",
        title: "A function of the elements of two arrays.",
        arguments: &[],
        c: Offer::Missing(ARRAYS),
        matlab: Offer::Names(&["MexMap2"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "lazy_map",
        title: "A function of each element, evaluated when it is read.",
        arguments: &[],
        c: Offer::Missing(ARRAYS),
        matlab: Offer::Names(&["MexLazy"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "lazy_map2",
        title: "A function of the elements of two arrays, evaluated when it is read.",
        arguments: &[],
        c: Offer::Missing(ARRAYS),
        matlab: Offer::Names(&["MexLazy2"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "mark",
        title: "Notes that the caller keeps dimensions of its own for an array.",
        arguments: &[],
        c: Offer::Missing(ARRAYS),
        matlab: Offer::Names(&["MexMark"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "reduce_along",
        title: "Sums, products or extrema of the columns or rows.",
        arguments: &[],
        c: Offer::Missing(ARRAYS),
        matlab: Offer::Names(&["MexReduce"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "gemm",
        title: "C = alpha op(A) op(B) + beta C for a dense, sparse or band A and a dense B.",
        arguments: &[
            Argument::new("transpose_a", Kind::Code),
            Argument::new("transpose_b", Kind::Code),
            Argument::new("alpha", Kind::Complex),
            Argument::new("a", Kind::Handle),
            Argument::new("b", Kind::Handle),
            Argument::new("beta", Kind::Complex),
            Argument::new("out", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_matrix_multiply"]),
        matlab: Offer::Names(&["MexMatrixMatrix"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "element",
        title: "An element.",
        arguments: &[],
        c: Offer::Missing(SMALL),
        matlab: Offer::Names(&["MexElement"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "with_element",
        title: "A copy with one element replaced.",
        arguments: &[],
        c: Offer::Missing(SMALL),
        matlab: Offer::Names(&["MexWithElement"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "part",
        title: "Elements, or rows and columns, by subscripts as an interpreter has them.",
        arguments: &[],
        c: Offer::Missing(SMALL),
        matlab: Offer::Names(&["MexPart", "MexBlock"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "with_part",
        title: "A copy with other elements, or rows and columns, by subscripts as an interpreter has them.",
        arguments: &[],
        c: Offer::Missing(SMALL),
        matlab: Offer::Names(&["MexWithPart", "MexWithBlock"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "vector_number",
        title: "The sum or a norm, of vectors only.",
        arguments: &[],
        c: Offer::Missing(SMALL),
        matlab: Offer::Names(&["MexVectorNumber"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "small_product",
        title: "The product with a column, where the operands fit.",
        arguments: &[],
        c: Offer::Missing(SMALL),
        matlab: Offer::Names(&["MexSmallProduct"]),
        program: Offer::Missing(LIBRARY),
    },
];
