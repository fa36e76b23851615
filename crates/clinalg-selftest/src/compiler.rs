//! Does the driver's compiler translate barriers, and how does it round products with sums, quotients, roots and integers?

use rand::Rng;
use rand::rngs::StdRng;

use super::vectors::OnDevice;
use super::{Suite, seeded};
use clinalg::ops::{self, Binary, Unary};
use clinalg::runtime::{Arg, KernelFamily, Range};
use clinalg::{Buffer, Precision, Real, Vector, shown};

/// Items of a work-group in the generated kernels.
const LANES: u32 = 64;
const GROUPS: usize = 3;

/// What an item does next, with its numbers `a` and `b` and the work-group's array `s`.
///
/// Barriers keep the rule of every kernel here: at the top level or in a plain uniform `for` loop, never under an `if`.
/// Drivers are known to break that rule's exceptions; a driver that breaks the rule itself computes nothing right.
enum Step {
    /// Arithmetic on the item's own numbers.
    Mix(u32),
    /// Neighbouring items take different ways.
    Branch { mask: u32, factor: u32 },
    /// Neighbouring items take a loop different numbers of times.
    Turns { mask: u32, factor: u32 },
    /// Each item reads what another one wrote before a barrier.
    Exchange { stride: u32, offset: u32 },
    /// A sum over the work-group by halving.
    Tree,
    /// The same steps several times for all items.
    Repeat { times: u32, body: Vec<Step> },
}

impl Step {
    fn random(rng: &mut StdRng, depth: u32) -> Step {
        let factor = rng.random_range(1..1000) * 2 + 1;
        let mask = [1, 2, 3, 5, 7, 16, 31][rng.random_range(0..7)];
        match rng.random_range(0..if depth == 0 { 7 } else { 5 }) {
            0 => Step::Mix(factor),
            1 => Step::Branch { mask, factor },
            2 => Step::Turns { mask: mask & 7, factor },
            3 => Step::Exchange { stride: factor, offset: rng.random_range(0..LANES) },
            4 => Step::Tree,
            _ => Step::Repeat { times: rng.random_range(2..6), body: Step::several(rng, depth + 1) },
        }
    }

    fn several(rng: &mut StdRng, depth: u32) -> Vec<Step> {
        let count = rng.random_range(2..5);
        (0..count).map(|_| Step::random(rng, depth)).collect()
    }

    /// The step in OpenCL C; `turn` is the expression of the innermost repetition's number.
    fn write(&self, source: &mut String, turn: &str) {
        source.push_str(&match self {
            Step::Mix(factor) => format!("a = a * {factor}u + (b ^ lane);\n"),
            Step::Branch { mask, factor } => {
                format!("if (lane & {mask}u) {{ a ^= b + {factor}u; }} else {{ b += a * {factor}u; }}\n")
            }
            Step::Turns { mask, factor } => {
                format!("for (uint k = 0; k < (lane & {mask}u); ++k) {{ a = a * {factor}u + k; }}\n")
            }
            Step::Exchange { stride, offset } => format!(
                "s[lane] = a;\nbarrier(CLK_LOCAL_MEM_FENCE);\n\
                 b ^= s[(lane * {stride}u + {offset}u + {turn}) % {LANES}u];\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
            ),
            Step::Tree => format!(
                "s[lane] = a ^ b;\nfor (uint h = {LANES}u / 2; h > 0; h /= 2) {{\nbarrier(CLK_LOCAL_MEM_FENCE);\n\
                 if (lane < h) {{ s[lane] += s[lane + h]; }}\n}}\nbarrier(CLK_LOCAL_MEM_FENCE);\n\
                 b += s[0];\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
            ),
            Step::Repeat { times, body } => {
                let mut inner = format!("for (uint turn = 0; turn < {times}u; ++turn) {{\n");
                body.iter().for_each(|step| step.write(&mut inner, "turn"));
                inner + "}\n"
            }
        });
    }

    /// The step for all items of a work-group, one after the other between barriers.
    fn simulate(&self, a: &mut [u32], b: &mut [u32], turn: u32) {
        let lanes = 0..LANES;
        let shared: Vec<u32> = a.to_vec();
        match *self {
            Step::Mix(factor) => {
                for lane in lanes {
                    let i = lane as usize;
                    a[i] = a[i].wrapping_mul(factor).wrapping_add(b[i] ^ lane);
                }
            }
            Step::Branch { mask, factor } => {
                for lane in lanes {
                    let i = lane as usize;
                    if lane & mask != 0 {
                        a[i] ^= b[i].wrapping_add(factor);
                    } else {
                        b[i] = b[i].wrapping_add(a[i].wrapping_mul(factor));
                    }
                }
            }
            Step::Turns { mask, factor } => {
                for lane in lanes {
                    let i = lane as usize;
                    a[i] = (0..lane & mask).fold(a[i], |a, k| a.wrapping_mul(factor).wrapping_add(k));
                }
            }
            Step::Exchange { stride, offset } => {
                for lane in lanes {
                    let from = lane.wrapping_mul(stride).wrapping_add(offset).wrapping_add(turn) % LANES;
                    b[lane as usize] ^= shared[from as usize];
                }
            }
            Step::Tree => {
                let total = a.iter().zip(b.iter()).fold(0_u32, |sum, (a, b)| sum.wrapping_add(a ^ b));
                b.iter_mut().for_each(|b| *b = b.wrapping_add(total));
            }
            Step::Repeat { times, ref body } => {
                for turn in 0..times {
                    body.iter().for_each(|step| step.simulate(a, b, turn));
                }
            }
        }
    }
}

/// The kernel of `steps`.
fn kernel(steps: &[Step]) -> String {
    let mut source = format!(
        "__kernel __attribute__((reqd_work_group_size({LANES}, 1, 1))) void\n\
         barriers(__global const uint *input, __global uint *output)\n{{\n__local uint s[{LANES}];\n\
         const uint lane = (uint)get_local_id(0);\nuint a = input[get_global_id(0)];\nuint b = a ^ lane;\n"
    );
    steps.iter().for_each(|step| step.write(&mut source, "0u"));
    source + "output[get_global_id(0)] = a ^ b;\n}\n"
}

/// What the kernel of `steps` must write.
fn expected(steps: &[Step], input: &[u32]) -> Vec<u32> {
    let group = |input: &[u32]| {
        let mut a = input.to_vec();
        let mut b: Vec<u32> = a.iter().zip(0..).map(|(a, lane)| a ^ lane).collect();
        steps.iter().for_each(|step| step.simulate(&mut a, &mut b, 0));
        a.into_iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<_>>()
    };
    input.chunks(LANES as usize).flat_map(group).collect()
}

pub(super) fn barriers(suite: &mut Suite<'_>) {
    let context = suite.context;
    // The other kernels have no barriers.
    if context.family() != KernelFamily::Gpu || context.device().max_work_group < LANES as usize {
        return;
    }
    let kernels = if suite.quick { 4 } else { 12 };
    suite.check("barriers", None, |worst| {
        let len = LANES as usize * GROUPS;
        for seed in 0..kernels {
            let mut rng = seeded(seed);
            let mut steps = Step::several(&mut rng, 0);
            steps.push(Step::Tree);
            let input: Vec<u32> = (0..len).map(|_| rng.random()).collect();
            let want = expected(&steps, &input);
            let from = Buffer::from_slice(context, &input)?;
            let to = Buffer::<u32>::zeroed(context, len)?;
            let range = Range::d1(len, LANES as usize);
            let args = [from.arg(), to.arg()];
            // SAFETY: the kernel takes these two buffers, and each of `len` items uses its own element of either.
            unsafe { context.run_source("barriers", &kernel(&steps), Precision::F32, range, &args)? };
            let got = to.to_vec()?;
            if let Some(i) = (0..len).find(|&i| got[i] != want[i]) {
                worst.fail(format!("kernel {seed} of {kernels}: item {i} computed {}, expected {}", got[i], want[i]));
            }
        }
        worst.size = len;
        worst.found(format!("{kernels} generated kernels"));
        Ok(())
    });
}

const PROBE: &str = "
__kernel void probe_fma(REAL a, REAL b, REAL c, __global REAL *out)
{
    out[0] = fma(a, b, c);
    out[1] = a * b + c;
    {
#pragma OPENCL FP_CONTRACT OFF
        out[2] = a * b + c;
    }
}
";

/// Finds out how products and sums are rounded. Nothing here relies on it, so only nonsense fails.
pub(super) fn fma<T: Real>(suite: &mut Suite<'_>) {
    let context = suite.context;
    suite.check("fma", Some(T::PRECISION), |worst| {
        // (1 + e)(1 - e) - 1 is -e^2 rounded once and 0 rounded twice.
        let e = T::epsilon();
        let out = Buffer::from_slice(context, &[T::nan(); 3])?;
        let [a, b, c] = [T::one() + e, T::one() - e, -T::one()].map(|value| Arg::real::<T>(value.into_f64()));
        let args = [a, b, c, out.arg()];
        // SAFETY: the kernel takes three numbers and a buffer, of which its one item writes the three elements.
        unsafe { context.run_source("probe_fma", PROBE, T::PRECISION, Range::d1(1, 1), &args)? };
        let got = out.to_vec()?;
        if let Some(wrong) = got.iter().find(|&&v| v != T::zero() && v != -e * e) {
            worst.fail(format!("(1 + e)(1 - e) - 1 is {}, expected 0 or {}", shown(*wrong), shown(-e * e)));
        }
        let fused = |i: usize| got[i] != T::zero();
        let details = [
            if fused(0) { "fma() rounds once" } else { "fma() rounds twice, against the specification" },
            if fused(1) { "a * b + c is contracted" } else { "a * b + c is not contracted" },
            if fused(2) { "in spite of FP_CONTRACT OFF too" } else { "FP_CONTRACT OFF is honoured" },
        ];
        worst.size = 1;
        worst.found(details.join("; "));
        Ok(())
    });
}

/// Quotients and roots in units in the last place: drivers are known that compute those of doubles to single precision.
pub(super) fn quotients_and_roots<T: Real>(suite: &mut Suite<'_>) {
    let (context, n) = (suite.context, if suite.quick { 257 } else { 4096 });
    // What OpenCL C 1.2 permits (section 7.4); double precision rounds correctly.
    let [quotient, root] = if T::PRECISION == Precision::F64 { [1.0, 1.0] } else { [2.5, 3.0] };
    let mut rng = seeded(11);
    // k / (k + 2), then numbers of all sizes whose quotients and products are normal.
    let mut number = |k: usize| match k {
        0..100 => T::from_f64(k as f64 + 1.0),
        _ => T::from_f64(rng.random_range(1.0..2.0)) * T::from_f64(2.0).powi(rng.random_range(-60..60)),
    };
    let (x, y): (Vec<T>, Vec<T>) = (0..n).map(|k| (number(k), number(k + 2))).unzip();
    let mut check = |name, ulps: f64, want: Vec<T>, f: OnDevice<T>| {
        suite.check(name, Some(T::PRECISION), |worst| {
            let mut out = Vector::filled(context, n, T::nan())?;
            f(&Vector::from_slice(context, &x)?, &Vector::from_slice(context, &y)?, &mut out)?;
            let scale = |i: usize| 2.0_f64.powf(want[i].into_f64().log2().floor());
            worst.compare(n, ulps * T::epsilon().into_f64(), &out.to_vec()?, &want, scale);
            Ok(())
        });
    };
    let quotients = x.iter().zip(&y).map(|(&x, &y)| x / y).collect();
    check("divide", quotient, quotients, |x, y, out| {
        ops::map2(Binary::Divide, ((x.len(), 1), x), ((y.len(), 1), y), out)
    });
    let roots = x.iter().map(|x| x.sqrt()).collect();
    check("sqrt", root, roots, |x, _, out| ops::map(Unary::Sqrt, x, out));
}

const CONVERT: &str = "
__kernel void probe_convert(__global const ulong *from, __global REAL *to)
{
    const size_t i = get_global_id(0), n = get_global_size(0);
    to[i] = (REAL)from[i];
    to[n + i] = (REAL)(-(long)from[i]);
    to[2 * n + i] = (REAL)(uint)from[i];
    to[3 * n + i] = (REAL)(int)(uint)from[i];
}
";

/// Conversions of integers, which round to nearest.
pub(super) fn integers<T: Real>(suite: &mut Suite<'_>) {
    let context = suite.context;
    suite.check("convert_integers", Some(T::PRECISION), |worst| {
        // Around powers of two, where a conversion by way of fewer bits loses some, and all bits at random; up to 53 bits, the
        // most that kernels convert.
        let powers = (0..53).map(|k| 1_u64 << k).flat_map(|p| [p - 1, p, p + 1, p | p >> 24 | p >> 52]);
        let mut rng = seeded(12);
        let from: Vec<u64> = powers.chain((0..300).map(|k| rng.random::<u64>() >> (11 + k % 53))).collect();
        let n = from.len();
        let (given, to) = (Buffer::from_slice(context, &from)?, Buffer::from_slice(context, &vec![T::nan(); 4 * n])?);
        let range = Range::d1(n, 1);
        // SAFETY: each of the n items reads its element of `given` and writes four of the 4 n elements of `to`.
        unsafe { context.run_source("probe_convert", CONVERT, T::PRECISION, range, &[given.arg(), to.arg()])? };
        let rounded = |value: &dyn Fn(u64) -> T| from.iter().map(|&v| value(v)).collect::<Vec<T>>();
        let number = |value: Option<T>| value.unwrap_or_else(T::nan);
        let want = [
            rounded(&|v| number(T::from(v))),
            rounded(&|v| number(T::from(-(v as i64)))),
            rounded(&|v| number(T::from(v as u32))),
            rounded(&|v| number(T::from(v as u32 as i32))),
        ];
        worst.exact(n, &to.to_vec()?, &want.concat());
        Ok(())
    });
}
