//! How the passes of [`fused`](super::fused) cut a grid up, with their launch parameters.

use super::fused::JACOBI_TOGETHER;
use crate::multigrid::passes::{MOST_FUSED, TOGETHER};
use crate::runtime::{KernelFamily, Range};
use crate::tune::{self, Choice, Needs, Operation, Parameters};
use crate::{Context, DeviceInfo, Precision, Real};

/// How a grid is cut up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strip {
    /// Items of a work-group, of two columns each.
    pub(crate) items: usize,
    /// Rows of a band, even.
    pub(crate) rows: usize,
    /// Rows between a load and its use.
    pub(crate) ahead: usize,
    /// Strips and bands.
    pub(crate) groups: [usize; 2],
}

/// Least rows of a band, below which halos cost more than the shorter band saves (NVIDIA H200).
pub(crate) const LEAST_ROWS: usize = 4;

impl Strip {
    /// For a pass over `height` rows of `n` points with `halo` columns on either side of a strip.
    pub(crate) fn new<T: Real>(context: &Context, op: &Operation, size: [usize; 2], halo: usize) -> Strip {
        Strip::within::<T>(context, op, size, halo, usize::MAX, |_| true)
    }

    /// The same of groups of fewer items than chosen unless these fit, of which a compute unit runs at most so many at a time.
    pub(crate) fn within<T: Real>(
        context: &Context,
        op: &Operation,
        [n, height]: [usize; 2],
        halo: usize,
        most_groups: usize,
        fits: impl Fn(usize) -> bool,
    ) -> Strip {
        let [mut items, most_rows, groups, ahead, ..] =
            context.choice(op, T::PRECISION, n * height).map(|value| value as usize);
        let groups = groups.min(most_groups);
        while !fits(items) && items / 2 > 2 * halo {
            items /= 2;
        }
        let strips = n.div_ceil(2 * items - 2 * halo);
        let slots = context.units() * groups;
        // All groups at once, or several times as many: a few more than that would run alone.
        let rounds = (height * strips).div_ceil(slots * most_rows);
        let bands = (rounds * slots / strips).max(1);
        let rows = height.div_ceil(bands).max(LEAST_ROWS).next_multiple_of(2);
        Strip { items, rows, ahead, groups: [strips, height.div_ceil(rows)] }
    }

    /// The items of a pass.
    pub(crate) fn range(&self) -> Range {
        let [strips, bands] = self.groups;
        Range::d2([strips * self.items, bands], [self.items, 1])
    }
}

/// The operation whose launch parameters a pass of red-black takes that needs `halo` columns on either side of a strip.
pub(crate) fn operation(halo: usize) -> &'static Operation {
    match halo {
        0..=3 => &SWEEP,
        4..=7 => &RESTRICTED,
        _ => &FUSED,
    }
}

const PARAMETERS: &[(&str, &str)] = &[
    ("local", "items of a work-group, two columns each; a power of two"),
    ("rows", "most rows of a band"),
    ("groups", "work-groups that a compute unit runs at a time; bands are cut for as many, or several times as many"),
    ("ahead", "rows between a load and its use"),
];

/// Launch parameters of a sweep of red-black.
pub(crate) static SWEEP: Operation = Operation::new(
    "red_black_sweep",
    "a sweep of red-black Gauss-Seidel on a grid",
    Parameters {
        needs: |choice, precision| needs(choice, precision, TOGETHER + 1),
        default: |device, precision, _| default(device, precision, TOGETHER + 1, [128, 1024, 4]),
        ..PASSES
    },
);

/// Launch parameters of two sweeps and the restriction of the defect.
pub(crate) static RESTRICTED: Operation = Operation::new(
    "red_black_restricted",
    "two sweeps of red-black Gauss-Seidel and the restricted defect, in one pass",
    Parameters {
        needs: |choice, precision| needs(choice, precision, 2 * TOGETHER + 2),
        default: |device, precision, _| default(device, precision, 2 * TOGETHER + 2, [64, 1024, 8]),
        ..PASSES
    },
);

/// Launch parameters of the end of one V(2,1) cycle and the beginning of the next.
pub(crate) static FUSED: Operation = Operation::new(
    "red_black_turn",
    "correction, three sweeps of red-black Gauss-Seidel, norms and the restricted defect, in one pass",
    Parameters {
        needs: |choice, precision| needs(choice, precision, 2 * MOST_FUSED + 2),
        default: |device, precision, _| default(device, precision, 2 * MOST_FUSED + 2, [64, 1024, 6]),
        ..PASSES
    },
);

/// Launch parameters of several sweeps of Jacobi.
pub(crate) static JACOBI: Operation = Operation::new(
    "jacobi_sweeps",
    "five sweeps of weighted Jacobi on a grid, in one pass",
    Parameters {
        needs: |choice, precision| needs(choice, precision, 2 * JACOBI_TOGETHER),
        default: |device, precision, _| default(device, precision, 2 * JACOBI_TOGETHER, [64, 1024, 8]),
        ..PASSES
    },
);

/// What the four operations share.
const PASSES: Parameters = Parameters {
    family: KernelFamily::Gpu,
    names: PARAMETERS,
    needs: |_, _| None,
    default: |_, _, _| [0; tune::PARAMETERS],
};

/// Items of a group must be more than the columns of a halo.
const LEAST_ITEMS: u32 = 16;

/// With so many values that an item shows the others in each of two rows.
fn needs(&[local, rows, groups, ahead, ..]: &Choice, precision: Precision, shown: usize) -> Option<Needs> {
    let sound = local >= LEAST_ITEMS
        && local.is_power_of_two()
        && (2..=1 << 16).contains(&rows)
        && (1..=1024).contains(&groups)
        && (1..=8).contains(&ahead);
    sound.then_some(Needs {
        group: local as usize,
        local_bytes: 2 * shown * (local as usize + 2) * precision.bytes(),
        tensor: false,
    })
}

/// Numbers from an NVIDIA H200, where the registers of the kernels leave room for so many groups.
fn default(device: &DeviceInfo, precision: Precision, shown: usize, [local, rows, groups]: [u32; 3]) -> Choice {
    // A third row for the two items at the rim.
    let local = tune::local_size(device, local as usize, 3 * shown * precision.bytes()).max(LEAST_ITEMS);
    [local, rows, groups, 2, 0, 0]
}
