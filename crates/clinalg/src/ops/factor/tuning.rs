//! Launch parameters of the factorisations. Sizes are numbers of elements of the matrix.

use super::{cholesky, lu, qr};
use crate::runtime::KernelFamily;
use crate::tune::{Needs, Operation, Parameters};
use crate::{DeviceInfo, Scalar};

const PANEL: (&str, &str) = ("panel", "columns that a kernel takes at a time");
const BLOCK: (&str, &str) = ("block", "columns after which all to their right are updated");

const TOGETHER: (&str, &str) = (
    "together",
    "1 for panels by one launch whose work-groups wait for each other (NVIDIA from compute capability 8.0), 0 for a launch \
     per column",
);

/// What any device has.
const PLAIN: Needs = Needs { group: 1, local_bytes: 0, tensor: false };

/// The first is the most columns that a kernel takes.
fn blocked(panel: u32, most: usize, block: u32) -> Option<Needs> {
    let sound = panel.is_power_of_two() && panel as usize <= most && block.is_multiple_of(panel) && block > 0;
    (sound && block as usize <= lu::EXCHANGES).then_some(PLAIN)
}

/// Whether all work-groups of a launch with no more of them than compute units run at the same time, and whether the device
/// has the release and acquire instructions for their signals: NVIDIA's GPUs of compute capability 8.0 and later.
pub(crate) fn runs_together(device: &DeviceInfo) -> bool {
    device.tensor_f64 > 0
}

const LU_GPU: Parameters = Parameters {
    family: KernelFamily::Gpu,
    names: &[PANEL, BLOCK, TOGETHER],
    needs: |&[panel, block, together, ..], _| blocked(panel, lu::MOST_WIDTH, block).filter(|_| together <= 1),
    default: |device, _, _| lu_default(device, 8),
};

const LU_GPU_COMPLEX: Parameters =
    Parameters { default: |device, precision, _| lu_default(device, 2 * precision.bytes()), ..LU_GPU };

fn lu_default(device: &DeviceInfo, element: usize) -> [u32; 6] {
    let together = runs_together(device);
    let panel = if together && element <= 8 { 32 } else { 16 };
    [panel, lu::EXCHANGES as u32, together.into(), 0, 0, 0]
}

const LU_CPU_PARAMETERS: Parameters = Parameters {
    family: KernelFamily::Cpu,
    names: &[PANEL, BLOCK],
    needs: |&[panel, block, ..], _| blocked(panel, 128, block),
    default: |_, _, _| [8, 128, 0, 0, 0, 0],
};

const CHOLESKY_GPU: Parameters = Parameters {
    family: KernelFamily::Gpu,
    names: &[PANEL, BLOCK],
    needs: |&[panel, block, ..], _| blocked(panel, cholesky::BLOCK, block),
    default: |_, _, _| [cholesky::BLOCK as u32, 512, 0, 0, 0, 0],
};

const CHOLESKY_CPU_PARAMETERS: Parameters = Parameters {
    family: KernelFamily::Cpu,
    needs: |&[panel, block, ..], _| blocked(panel, 128, block),
    ..CHOLESKY_GPU
};

const REFLECTIONS: (&str, &str) = ("block", "reflections that are joined to one product of matrices");

const QR_GPU: Parameters = Parameters {
    family: KernelFamily::Gpu,
    names: &[PANEL, REFLECTIONS, TOGETHER],
    needs: |&[panel, block, together, ..], _| qr_needs([panel, block, together], qr::WIDTH),
    // NVIDIA H200, 8192 x 8192, f64: 116 ms by 64, 101 by 128.
    default: |device, _, class| {
        [qr::WIDTH as u32, if class < 24 { 64 } else { 128 }, runs_together(device).into(), 0, 0, 0]
    },
};

const QR_CPU_PARAMETERS: Parameters = Parameters {
    family: KernelFamily::Cpu,
    names: &[PANEL, REFLECTIONS],
    needs: |&[panel, block, ..], _| qr_needs([panel, block, 0], qr::WIDTH_CPU),
    default: |_, _, _| [16, 64, 0, 0, 0, 0],
};

fn qr_needs([panel, block, together]: [u32; 3], most: usize) -> Option<Needs> {
    blocked(panel, most, block).filter(|_| together <= 1 && block as usize <= qr::BLOCK)
}

pub(crate) static LU: Operation = Operation::new("lu", "P A = L U", LU_GPU);
pub(crate) static LU_COMPLEX: Operation = Operation::new("lu_complex", "P A = L U of complex numbers", LU_GPU_COMPLEX);
pub(crate) static LU_CPU: Operation = Operation::new("lu_cpu", "P A = L U on a CPU", LU_CPU_PARAMETERS);
pub(crate) static LU_CPU_COMPLEX: Operation =
    Operation::new("lu_cpu_complex", "P A = L U of complex numbers on a CPU", LU_CPU_PARAMETERS);
pub(crate) static CHOLESKY: Operation = Operation::new("cholesky", "A = L L'", CHOLESKY_GPU);
pub(crate) static CHOLESKY_COMPLEX: Operation =
    Operation::new("cholesky_complex", "A = L L' of complex numbers", CHOLESKY_GPU);
pub(crate) static CHOLESKY_CPU: Operation =
    Operation::new("cholesky_cpu", "A = L L' on a CPU", CHOLESKY_CPU_PARAMETERS);
pub(crate) static CHOLESKY_CPU_COMPLEX: Operation =
    Operation::new("cholesky_cpu_complex", "A = L L' of complex numbers on a CPU", CHOLESKY_CPU_PARAMETERS);
pub(crate) static QR: Operation = Operation::new("qr", "A = Q R", QR_GPU);
pub(crate) static QR_COMPLEX: Operation = Operation::new("qr_complex", "A = Q R of complex numbers", QR_GPU);
pub(crate) static QR_CPU: Operation = Operation::new("qr_cpu", "A = Q R on a CPU", QR_CPU_PARAMETERS);
pub(crate) static QR_CPU_COMPLEX: Operation =
    Operation::new("qr_cpu_complex", "A = Q R of complex numbers on a CPU", QR_CPU_PARAMETERS);

fn one_of<T: Scalar>(family: KernelFamily, [gpu, cpu]: [[&'static Operation; 2]; 2]) -> &'static Operation {
    let of_family = if family == KernelFamily::Gpu { gpu } else { cpu };
    of_family[usize::from(T::IS_COMPLEX)]
}

pub(super) fn lu<T: Scalar>(family: KernelFamily) -> &'static Operation {
    one_of::<T>(family, [[&LU, &LU_COMPLEX], [&LU_CPU, &LU_CPU_COMPLEX]])
}

pub(super) fn cholesky<T: Scalar>(family: KernelFamily) -> &'static Operation {
    one_of::<T>(family, [[&CHOLESKY, &CHOLESKY_COMPLEX], [&CHOLESKY_CPU, &CHOLESKY_CPU_COMPLEX]])
}

pub(super) fn qr<T: Scalar>(family: KernelFamily) -> &'static Operation {
    one_of::<T>(family, [[&QR, &QR_COMPLEX], [&QR_CPU, &QR_CPU_COMPLEX]])
}
