//! Arrays by parts, element by element and along a dimension.

use super::{Function, LIBRARY, Offer};

/// Why C has none of these yet.
const ARRAYS: &str = "an array operation of MATLAB; C has the vector operations";

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
        title: "C = op(A) op(B) of dense matrices.",
        arguments: &[],
        c: Offer::Missing(ARRAYS),
        matlab: Offer::Names(&["MexMatrixMatrix"]),
        program: Offer::Missing(LIBRARY),
    },
];
