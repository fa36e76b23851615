//! Kernels that evaluate formulas at all points: initial values, sums over the points, and the distance from a known solution.
//!
//! They compute in double precision, as the host does, whatever the precision of the solution.

use std::fmt::Write;

use clinalg::runtime::GeneratedKernel;
use clinalg::{KernelFamily, Precision, Real};

use crate::codegen::all_pairs::{Sums, leaf_at_point, sum_name};
use crate::codegen::writer::{FUNCTIONS, head};
use crate::method::graph::Value;
use crate::model::formula::Expr;
use crate::model::system::System;

/// A node whose number appears in the names of the sums of these kernels.
const NODE: Value = Value(0);

/// Stores a formula for each place in `y`, in the precision `T`; its arguments are the time, parameters with data, and `y`.
pub(crate) fn initial_values<T: Real>(system: &System, formulas: &[Expr], family: KernelFamily) -> GeneratedKernel {
    let mut text = opened::<T>(system, family, "ode_initial_values", "STORED *y", 0..system.grid().points());
    let values = values(system, &formulas.iter().collect::<Vec<_>>(), family);
    let stores: String =
        (0..formulas.len()).map(|k| format!("            y[AT(p, {k})] = (STORED)value{k};\n")).collect();
    write!(text, "    EACH_POINT {{\n{values}{stores}    }}\n}}\n").expect("text grows");
    GeneratedKernel::new("ode_initial_values", text, Precision::F64)
}

/// Adds formulas of the components in `y` up over all points, of a part of a grid over its own; the partial sums of the
/// first come before those of the next. Its arguments are those of [`initial_values`], then the partial sums.
pub(crate) fn totals<T: Real>(system: &System, formulas: &[Expr], family: KernelFamily) -> GeneratedKernel {
    let of = values(system, &formulas.iter().collect::<Vec<_>>(), family);
    reduction::<T>(system, family, "ode_totals", "", &of, formulas.len(), "(a) + (b)")
}

/// The largest distance of a component of `y` from the `count` values of `line`, which repeats itself along the whole
/// grid, NaN where one is; of a part of a grid at its own points. Its arguments are those of [`initial_values`], then
/// `line` and the partial results.
pub(crate) fn largest_difference<T: Real>(system: &System, count: usize, family: KernelFamily) -> GeneratedKernel {
    assert_eq!(system.fields().len(), 1, "known solutions have one field");
    let begin = system.first_point() % count;
    let of = format!("            const REAL value0 = fabs((REAL)y[p] - line[(p + (idx){begin}) % (idx){count}]);\n");
    let line = ", __global const REAL *restrict line";
    reduction::<T>(system, family, "ode_largest_difference", line, &of, 1, "LARGER(a, b)")
}

/// A kernel that joins `count` values of each point, which `of` computes.
fn reduction<T: Real>(
    system: &System,
    family: KernelFamily,
    name: &str,
    arguments: &str,
    of: &str,
    count: usize,
    join: &str,
) -> GeneratedKernel {
    let arguments = format!("const STORED *restrict y{arguments}, __global REAL *restrict partial");
    let mut text = opened::<T>(system, family, name, &arguments, system.own_points());
    let each = |line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let begin = each(&|k| format!("    REAL result{k} = ZERO;\n"));
    let joined = each(&|k| format!("            result{k} = JOIN(result{k}, value{k});\n"));
    let end = match family {
        KernelFamily::Gpu => {
            // The next result overwrites what item 0 alone has read last.
            let tree = |k: usize| {
                format!(
                    "    tree[leaf] = result{k};
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t width = LOCAL / 2; width > 0; width /= 2) {{
        if (leaf < width)
            tree[leaf] = JOIN(tree[leaf], tree[leaf + width]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }}
    if (leaf == 0)
        partial[{k} * get_num_groups(0) + get_group_id(0)] = tree[0];\n"
                )
            };
            format!("    __local REAL tree[LOCAL];\n    const size_t leaf = get_local_id(0);\n{}", each(&tree))
        }
        KernelFamily::Cpu => {
            each(&|k| format!("    partial[{k} * get_global_size(0) + get_global_id(0)] = result{k};\n"))
        }
    };
    write!(text, "#define JOIN(a, b) ({join})\n{begin}    EACH_POINT {{\n{of}{joined}    }}\n{end}}}\n")
        .expect("text grows");
    GeneratedKernel::new(name, text, Precision::F64)
}

/// Adds noise to `count` numbers of `from` and stores the sums in `to`, in both from element `begin` on: `distance`
/// times the numbers of the generator of Park and Miller (1988) after the first `skipped`, from -1 to 1, in their
/// order. Its arguments are `count`, `begin`, `skipped`, `distance`, `from` and `to`.
pub(crate) fn add_noise<T: Real>(family: KernelFamily) -> GeneratedKernel {
    let (first, past, step) = share(family, 0, "count");
    let text = format!(
        "#pragma OPENCL FP_CONTRACT OFF
inline ulong number(ulong k)
{{
    ulong result = 1, factor = {NOISE_FACTOR};
    for (; k > 0; k /= 2) {{
        if (k % 2 == 1)
            result = result * factor % {NOISE_MODULUS};
        factor = factor * factor % {NOISE_MODULUS};
    }}
    return result;
}}
__kernel void ode_add_noise(const ulong count, const ulong begin, const ulong skipped, const REAL distance,
                            __global const {stored} *restrict from, __global {stored} *restrict to)
{{
    const size_t first = {first}, past = {past}, step = {step};
    const ulong jump = number(step);
    ulong seed = number(skipped + first + 1);
    for (size_t k = first; k < past; k += step) {{
        to[begin + k] = from[begin + k] + ({stored})(distance * ((REAL)seed / {NOISE_HALF:?} - ONE));
        seed = seed * jump % {NOISE_MODULUS};
    }}
}}\n",
        stored = stored::<T>()
    );
    GeneratedKernel::new("ode_add_noise", text, Precision::F64)
}

/// Stores the values of a formula of coordinates, its parameters, at `count` points of a grid from number `begin` on,
/// in `out`. Its arguments are `begin`, `count`, the points along each of the three axes, `held`, `wanted`, the
/// coordinates along the axes, one axis after the other, and `out`. Bit 2 a of `held` is set where the low end of axis
/// a is a side with points of its own, bit 2 a + 1 where its high end is; only points on the sides whose bits are set
/// in `wanted` get a value, and those on no side where bit 6 is set. Of the sides on which a point lies that of the
/// last axis counts.
pub(crate) fn function_values<T: Real>(formula: &Expr, variables: usize, family: KernelFamily) -> GeneratedKernel {
    let (first, past, step) = share(family, 0, "count");
    let value = formula.opencl::<f64>(&mut |leaf| match leaf {
        Expr::Parameter(k) => format!("v{k}"),
        // Functions of the place alone are taken at time 0.
        Expr::Time => "ZERO".into(),
        _ => unreachable!("the leaves of a function are its variables and the time"),
    });
    let coordinates: String = (0..variables)
        .map(|k| format!("        const REAL v{k} = axes[{}i{k}];\n", ["", "nx + ", "nx + ny + "][k]))
        .collect();
    let text = format!(
        "#pragma OPENCL FP_CONTRACT OFF
{FUNCTIONS}
#define ON_SIDE(axis, i, n)                                       \\
    if (i == 0 && held >> (2 * axis) & 1)                         \\
        side = 2 * axis;                                          \\
    else if (i == n - 1 && held >> (2 * axis + 1) & 1)            \\
        side = 2 * axis + 1
__kernel void ode_function_values(const ulong begin, const ulong count, const ulong nx, const ulong ny, const ulong nz,
                                  const uint held, const uint wanted, __global const REAL *restrict axes,
                                  __global {stored} *restrict out)
{{
    const size_t first = {first}, past = {past}, step = {step};
    for (size_t k = first; k < past; k += step) {{
        const ulong p = begin + k, i0 = p % nx, i1 = p / nx % ny, i2 = p / nx / ny;
        uint side = 6;
        ON_SIDE(0, i0, nx);
        ON_SIDE(1, i1, ny);
        ON_SIDE(2, i2, nz);
        if (!(wanted >> side & 1))
            continue;
{coordinates}        out[k] = ({stored})({value});
    }}
}}\n",
        stored = stored::<T>()
    );
    GeneratedKernel::new("ode_function_values", text, Precision::F64)
}

/// Factor and modulus of the generator of Park and Miller, and half of its range.
pub(crate) const NOISE_FACTOR: u64 = 48_271;
pub(crate) const NOISE_MODULUS: u64 = 2_147_483_647;
pub(crate) const NOISE_HALF: f64 = 1_073_741_823.5;

/// The type of what vectors of the precision `T` store.
fn stored<T: Real>() -> &'static str {
    if T::PRECISION == Precision::F32 { "float" } else { "double" }
}

/// The first of `count` elements from `begin` on that an item has, where it stops, and how far they are apart.
fn share(family: KernelFamily, begin: usize, count: &str) -> (String, String, String) {
    match family {
        KernelFamily::Gpu => {
            (format!("{begin} + get_global_id(0)"), format!("{begin} + {count}"), "get_global_size(0)".into())
        }
        KernelFamily::Cpu => {
            let start = |item: &str| format!("{begin} + part_start((size_t){count}, {item}, get_global_size(0))");
            (start("get_global_id(0)"), start("get_global_id(0) + 1"), "1".into())
        }
    }
}

/// What stands before the loop over these points, which is `EACH_POINT`; `arguments` follow the time and the
/// parameters.
fn opened<T: Real>(
    system: &System,
    family: KernelFamily,
    name: &str,
    arguments: &str,
    points: std::ops::Range<usize>,
) -> String {
    let (first, past, step) = share(family, points.start, &points.len().to_string());
    format!(
        "{}#define STORED {}
#define EACH_POINT for (idx p = first; p < past; p += step)
__kernel void {name}(const REAL t{}, __global const REAL *restrict par, __global {arguments})
{{
    const idx first = (idx)({first}), past = (idx)({past}), step = (idx){step};\n",
        head(system, family),
        stored::<T>(),
        NODE.0
    )
}

/// The values `value0`, `value1`, ... of formulas at point `p`.
fn values(system: &System, formulas: &[&Expr], family: KernelFamily) -> String {
    let mut sums: Vec<&Expr> = Vec::new();
    for formula in formulas {
        formula.walk(&mut |e| {
            if let Expr::Sum(inner) = e
                && !sums.contains(&&**inner)
            {
                sums.push(inner);
            }
        });
    }
    let mut text = String::from("            const idx ix = p % NX, iy = p / NX % NY, iz = p / NX / NY;\n");
    if !sums.is_empty() {
        let own = |field: usize| format!("((REAL)y[AT(p, {field})])");
        text.push_str(&Sums::<f64>::of(system, NODE, sums.clone()).alone(family, &own, &own));
    }
    for (k, formula) in formulas.iter().enumerate() {
        let value = formula.opencl::<f64>(&mut |leaf| match leaf {
            Expr::Time => format!("t{}", NODE.0),
            Expr::Parameter(k) => format!("par[{k}]"),
            Expr::Field { field, .. } => format!("((REAL)y[AT(p, {field})])"),
            Expr::Sum(inner) => {
                let m = sums.iter().position(|sum| *sum == &**inner).expect("all sums were collected");
                // That of an item with one point.
                sum_name(NODE, m, KernelFamily::Gpu)
            }
            other => leaf_at_point::<f64>(system, other, [0; 3]),
        });
        writeln!(text, "            const REAL value{k} = {value};").expect("text grows");
    }
    text
}
