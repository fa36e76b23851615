//! The launch parameters of products that leave a dot product, too.

use crate::runtime::KernelFamily;
use crate::tune::{self, Needs, Operation, Parameters};

/// The product with its dot product, a row per item, on a GPU.
pub(crate) static MV_CSR_DOT: Operation = Operation::new(
    "mv_csr_dot",
    "y = A x and x'y with short rows, as in conjugate gradients",
    Parameters {
        family: KernelFamily::Gpu,
        names: &[("local", "items of a work-group, a power of two"), ("rows", "rows that an item has under way")],
        needs: |&[local, rows, ..], precision| {
            let sound = local.is_power_of_two() && (1..=64).contains(&rows);
            let local_bytes = local as usize * precision.bytes();
            sound.then_some(Needs { group: local as usize, local_bytes, tensor: false })
        },
        // Few rows: work-groups for all units. Many: longer work-groups, of which the last round wastes less.
        default: |device, precision, class| {
            let rows = if class < 23 { 4 } else { 8 };
            [tune::local_size(device, 256, precision.bytes()), rows, 0, 0, 0, 0]
        },
    },
);
