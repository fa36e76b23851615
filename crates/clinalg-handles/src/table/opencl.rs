//! Programs with OpenCL objects of their own.

use super::{Argument, Function, Kind, Offer};

/// Why MATLAB and the program lack them.
const POINTERS: &str = "for programs that call OpenCL themselves, which have pointers to its objects";

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "opencl_select",
        title: "Selects the caller's context, device and queue for new objects.",
        arguments: &[
            Argument::new("context", Kind::Foreign),
            Argument::new("device", Kind::Foreign),
            Argument::new("queue", Kind::Foreign),
        ],
        c: Offer::Names(&["clinalg_opencl_select"]),
        matlab: Offer::Missing(POINTERS),
        program: Offer::Missing(POINTERS),
    },
    Function {
        name: "opencl_export",
        title: "The context, the device and the queue that new objects live on.",
        arguments: &[
            Argument::new("context", Kind::ForeignResult),
            Argument::new("device", Kind::ForeignResult),
            Argument::new("queue", Kind::ForeignResult),
        ],
        c: Offer::Names(&["clinalg_opencl_export"]),
        matlab: Offer::Missing(POINTERS),
        program: Offer::Missing(POINTERS),
    },
    Function {
        name: "vector_import",
        title: "A vector in memory of the caller.",
        arguments: &[
            Argument::new("precision", Kind::Code),
            Argument::new("mem", Kind::Foreign),
            Argument::new("len", Kind::Count),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_vector_import"]),
        matlab: Offer::Missing(POINTERS),
        program: Offer::Missing(POINTERS),
    },
    Function {
        name: "dense_import",
        title: "A dense matrix in memory of the caller.",
        arguments: &[
            Argument::new("precision", Kind::Code),
            Argument::new("mem", Kind::Foreign),
            Argument::new("rows", Kind::Count),
            Argument::new("cols", Kind::Count),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_dense_import"]),
        matlab: Offer::Missing(POINTERS),
        program: Offer::Missing(POINTERS),
    },
    Function {
        name: "object_export",
        title: "The memory and the queue of a vector or dense matrix.",
        arguments: &[
            Argument::new("object", Kind::Handle),
            Argument::new("mem", Kind::ForeignResult),
            Argument::new("queue", Kind::ForeignResult),
        ],
        c: Offer::Names(&["clinalg_object_export"]),
        matlab: Offer::Missing(POINTERS),
        program: Offer::Missing(POINTERS),
    },
];
