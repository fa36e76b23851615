//! The inspection of sparse matrices on the device, against its sequential definition, the functions for host matrices and components that a
//! search finds.

use clinalg::matrix::{unknowns_per_node, zero_sum_components};
use clinalg::precond::{NullVectors, is_hermitian};
use clinalg::{Complex, Context, Csr, CsrParts, Inspection, Scalar};

use crate::common::{Noise, assert_error, contexts, eps, takes};

/// Runs a check on every device, with every family of kernels and every scalar type that tests take.
macro_rules! on_every_scalar {
    ($check:ident) => {
        for context in contexts() {
            if takes::<f32>(context) {
                $check::<f32>(context);
                $check::<Complex<f32>>(context);
            }
            if takes::<f64>(context) {
                $check::<f64>(context);
                $check::<Complex<f64>>(context);
            }
        }
    };
}

fn scalar<T: Scalar>(re: f64, im: f64) -> T {
    T::from_parts(T::Real::from_f64(re), T::Real::from_f64(im))
}

fn modulus<T: Scalar>(value: T) -> f64 {
    let value = value.widen();
    value.re().hypot(value.im())
}

fn is_zero<T: Scalar>(value: T) -> bool {
    value == scalar(0.0, 0.0)
}

/// A matrix with its mirror images: every entry (i, j) is joined by the conjugate one (j, i).
fn mirrored<T: Scalar>(n: usize, entries: impl IntoIterator<Item = (usize, usize, T)>) -> CsrParts<T> {
    let both = |(i, j, v): (usize, usize, T)| {
        [Some((i, j, if i == j { T::from_real(v.re()) } else { v })), (i != j).then(|| (j, i, v.conj()))]
    };
    let mut all: Vec<_> = entries.into_iter().flat_map(both).flatten().collect();
    // Without duplicates, whose sums need not be mirror images.
    all.sort_by_key(|&(i, j, _)| (i, j));
    all.dedup_by_key(|&mut (i, j, _)| (i, j));
    CsrParts::from_triplets(n, n, &all).unwrap()
}

/// A random Hermitian matrix with about 2 * `mean` + 1 entries per row and a positive diagonal.
fn hermitian<T: Scalar>(n: usize, mean: usize, seed: u64) -> CsrParts<T> {
    let mut noise = Noise::new(seed);
    let mut entries: Vec<_> = (0..n).map(|i| (i, i, scalar(3.0 + noise.value::<f64>(), 0.0))).collect();
    for k in 0..n * mean {
        entries.push((k % n, noise.below(n), scalar(noise.value(), noise.value())));
    }
    mirrored(n, entries)
}

/// Fails unless the inspection finds what the definitions say.
fn assert_inspected<T: Scalar>(what: &str, context: &Context, a: &CsrParts<T>) -> Inspection {
    let what = format!("{what}, {} x {} of {}, {context:?}", a.rows, a.cols, std::any::type_name::<T>());
    let got = Inspection::of(&Csr::from_parts(context, a).unwrap()).unwrap();
    let eps = eps::<T::Real>();
    let (mut diagonal, mut off, mut norms) = (Vec::new(), Vec::new(), Vec::new());
    let mut zero_sum_rows = 0;
    let mut has_entry = vec![false; a.cols];
    for i in 0..a.rows {
        diagonal.push(a.row(i).find(|entry| entry.0 == i).map_or(scalar(0.0, 0.0), |entry| entry.1));
        off.push(a.row(i).filter(|entry| entry.0 != i).map(|entry| modulus(entry.1)).sum::<f64>());
        norms.push(a.row(i).map(|entry| modulus(entry.1)).sum::<f64>());
        let [re, im] = [Scalar::re, Scalar::im]
            .map(|part: fn(T::Wide) -> f64| a.row(i).map(|entry| part(entry.1.widen())).sum::<f64>());
        zero_sum_rows += usize::from(re.hypot(im) <= 64.0 * eps * norms[i]);
        a.row(i).filter(|entry| !is_zero(entry.1)).for_each(|(j, _)| has_entry[j] = true);
    }
    assert_eq!((got.rows, got.cols, got.nnz), (a.rows, a.cols, a.nnz()), "{what}");
    let first = a.triplets().find(|entry| !entry.2.has_finite_parts()).map(|(i, j, _)| (i, j));
    assert_eq!(got.first_not_finite, first, "{what}: first entry that is not finite");
    assert_eq!(got.hermitian, is_hermitian(a).unwrap(), "{what}: Hermitian");
    let count = |is: fn(&T) -> bool| diagonal.iter().filter(|value| is(value)).count();
    assert_eq!(got.zero_diagonal, count(|v| is_zero(*v)), "{what}: zeros on the diagonal");
    assert_eq!(got.negative_diagonal, count(|v| v.widen().re() < 0.0), "{what}: negative diagonal");
    assert_eq!(got.positive_diagonal, count(|v| v.widen().re() > 0.0), "{what}: positive diagonal");
    assert_eq!(got.off_diagonal, a.triplets().filter(|(i, j, _)| i != j).count(), "{what}: off-diagonal entries");
    let nonpositive = a.triplets().filter(|(i, j, v)| i != j && v.widen().re() <= 0.0).count();
    assert_eq!(got.nonpositive_off_diagonal, nonpositive, "{what}: nonpositive entries");
    let zero_rows = (0..a.rows).filter(|&i| a.row(i).all(|entry| is_zero(entry.1))).count();
    assert_eq!(got.zero_rows, zero_rows, "{what}: rows of zeros");
    assert_eq!(got.zero_columns, has_entry.iter().filter(|has| !**has).count(), "{what}: columns of zeros");
    assert_eq!(got.zero_sum_rows, zero_sum_rows, "{what}: rows that add up to zero");
    // Sums of nonnegative terms; those in single precision are compensated.
    let longest = a.offsets.windows(2).map(|row| row[1] - row[0]).max().unwrap_or(0);
    let bound = if eps > 1e-10 { 8.0 * eps } else { (longest + 8) as f64 * eps };
    let close = |name: &str, got: f64, want: f64| {
        let is_close = got == want || (got.is_nan() && want.is_nan()) || (got - want).abs() <= bound * want;
        assert!(is_close, "{what}: {name} is {got:e}, wanted {want:e}");
    };
    let sizes: Vec<f64> = diagonal.iter().filter(|v| !is_zero(**v)).map(|v| modulus(*v)).collect();
    let (least, most) =
        (sizes.iter().copied().fold(f64::INFINITY, f64::min), sizes.iter().copied().fold(0.0, f64::max));
    close("spread", got.spread, if most > 0.0 { most / least } else { 1.0 });
    let ratios = (0..a.rows).filter(|&i| !is_zero(diagonal[i])).map(|i| off[i] / modulus(diagonal[i]));
    close("dominance", got.dominance, ratios.fold(0.0, f64::max));
    close("norm", got.infinity_norm, norms.iter().fold(0.0, |all, &v| if v > all || v.is_nan() { v } else { all }));
    got
}

fn sizes<T: Scalar>(context: &Context) {
    for n in [0, 1, 2, 7, 255, 256, 257, 5000] {
        for mean in [0, 1, 6, 40] {
            let a = hermitian::<T>(n, mean.min(n), 7 + mean as u64);
            assert!(assert_inspected("Hermitian", context, &a).hermitian, "{n} {mean}");
        }
    }
    let a = hermitian::<T>(100_003, 2, 3);
    assert!(assert_inspected("large", context, &a).hermitian);
    for (rows, cols) in [(0, 3), (3, 0), (300, 500), (500, 300)] {
        let mut noise = Noise::new(5);
        let entries: Vec<_> = (0..(rows * cols).min(900))
            .map(|k| (k * 7 % rows, noise.below(cols), scalar(noise.value(), noise.value())))
            .collect();
        let a = CsrParts::<T>::from_triplets(rows, cols, &entries).unwrap();
        assert!(!assert_inspected("rectangular", context, &a).hermitian);
    }
}

/// The matrix with another value at a position; `None` removes the entry.
fn changed<T: Scalar>(a: &CsrParts<T>, at: (usize, usize), value: Option<T>) -> CsrParts<T> {
    let others = a.triplets().filter(|&(i, j, _)| (i, j) != at);
    let entries: Vec<_> = others.chain(value.map(|value| (at.0, at.1, value))).collect();
    CsrParts::from_triplets(a.rows, a.cols, &entries).unwrap()
}

fn asymmetry<T: Scalar>(context: &Context) {
    let eps = eps::<T::Real>();
    let n = 700;
    let base = hermitian::<T>(n, 4, 11);
    let value = |at: (usize, usize)| base.row(at.0).find(|entry| entry.0 == at.1).map(|entry| entry.1);
    let upper =
        base.triplets().find(|&(i, j, v)| i > 300 && j > i && modulus(v) > 0.1).map(|(i, j, _)| (i, j)).unwrap();
    let lower = (upper.1, upper.0);
    let free = (0..n).map(|j| (n / 2, j)).find(|&at| value(at).is_none()).unwrap();
    let times = |at, factor: f64| Some(value(at).unwrap() * T::from_f64(factor));
    let (nan, infinity) = (scalar::<T>(f64::NAN, 0.0), scalar::<T>(f64::INFINITY, 0.0));
    let mut cases = Vec::new();
    for at in [upper, lower] {
        cases.extend([
            ("one rounding", true, changed(&base, at, times(at, 1.0 + eps))),
            ("as large as the diagonal allows", true, changed(&base, at, times(at, 1.0 + 60.0 * eps))),
            ("more than rounding", false, changed(&base, at, times(at, 1.0 + 5000.0 * eps))),
            ("another sign", false, changed(&base, at, times(at, -1.0))),
            ("a missing entry", false, changed(&base, at, None)),
            ("a tiny entry without mirror image", true, changed(&base, (free.0, free.1), Some(T::from_f64(eps)))),
            ("an entry without mirror image", false, changed(&base, (free.1, free.0), Some(T::from_f64(1.0)))),
            ("NaN", false, changed(&base, at, Some(nan))),
            ("one infinity", false, changed(&base, at, Some(infinity))),
        ]);
    }
    // The criterion on the host compares whole matrices before it computes differences.
    let infinite = changed(&changed(&base, upper, Some(infinity)), lower, Some(infinity));
    cases.push(("infinities", true, infinite.clone()));
    let last = (n - 1, n - 1);
    cases.push(("NaN on the diagonal", false, changed(&base, last, Some(nan))));
    cases.push(("infinities and a missing entry", false, changed(&infinite, free, Some(T::from_f64(eps)))));
    if T::IS_COMPLEX {
        let own = value(last).unwrap();
        cases.push(("rounding on the diagonal", true, changed(&base, last, Some(own + scalar(0.0, 20.0 * eps)))));
        cases.push(("an imaginary diagonal entry", false, changed(&base, last, Some(own + scalar(0.0, 400.0 * eps)))));
        cases.push(("not conjugate", false, changed(&base, upper, value(upper).map(|v| v.conj()))));
    }
    // At the bound itself, whether entries or the diagonal set it, and far from the middle of the range of numbers.
    let power = |k: i32| T::from_f64(2.0_f64.powi(if eps > 1e-10 { k.min(120) } else { 8 * k }));
    for size in [power(0), power(-100), power(100), power(120)] {
        let pair = |diagonal: f64, ulps: f64| {
            let [d, v, w] = [diagonal, 1.0, 1.0 + ulps * eps].map(|v| T::from_f64(v) * size);
            let zero = |v: &(usize, usize, T)| !is_zero(v.2);
            let all: Vec<_> = [(0, 0, d), (0, 1, v), (1, 0, w), (1, 1, d)].into_iter().filter(zero).collect();
            CsrParts::from_triplets(2, 2, &all).unwrap()
        };
        cases.push(("at the bound", true, pair(0.0, 32.0)));
        cases.push(("past the bound", false, pair(0.0, 33.0)));
        cases.push(("at the bound of the diagonal", true, pair(6.0, 192.0)));
        cases.push(("past the bound of the diagonal", false, pair(6.0, 193.0)));
    }
    for (name, want, a) in cases {
        // Host products of diagonal entries may overflow.
        if is_hermitian(&a).unwrap() == want || a.rows > 2 {
            assert_inspected(name, context, &a);
        }
        let got = Inspection::of(&Csr::from_parts(context, &a).unwrap()).unwrap();
        assert_eq!(got.hermitian, want, "{name}, {} rows, {context:?}", a.rows);
    }
}

fn unusual<T: Scalar>(context: &Context) {
    let base = hermitian::<T>(600, 3, 23);
    let one = scalar::<T>(1.0, 0.5);
    for (i, j) in [(0, 0), (599, 599), (17, 400), (400, 17)] {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_inspected("not finite", context, &changed(&base, (i, j), Some(scalar(value, 0.0))));
            let later = changed(&base, (500, 501), Some(scalar(0.0, value)));
            assert_inspected("two of them", context, &changed(&later, (i, j), Some(scalar(value, value))));
        }
    }
    // Signs and zeros on the diagonal, zeros that are stored, rows and columns without entries.
    let mut entries = Vec::new();
    for i in 0..900 {
        let own = [0.0, -1.0, 2.0, -0.0, 1e-3][i % 5];
        if i % 7 != 3 {
            entries.push((i, i, scalar(own, own * 0.5)));
        }
        if i % 11 != 2 {
            entries.push((i, (i * 37 + 5) % 900, scalar([0.0, -1.0, 1.0][i % 3], 0.0)));
        }
    }
    entries.retain(|&(i, j, _)| i % 13 != 5 && j % 17 != 6);
    assert_inspected("zeros", context, &CsrParts::<T>::from_triplets(900, 900, &entries).unwrap());
    assert_inspected("nothing stored", context, &CsrParts::<T>::from_triplets(900, 900, &[]).unwrap());
    // Large and small numbers, whose squares exceed the range.
    let [large, small] = if eps::<T::Real>() > 1e-10 { [1e30, 1e-30] } else { [1e300, 1e-300] };
    for size in [large, small] {
        let scaled: Vec<_> = base.triplets().map(|(i, j, v)| (i, j, v * T::from_f64(size))).collect();
        assert_inspected("scaled", context, &CsrParts::from_triplets(600, 600, &scaled).unwrap());
    }
    // Long rows and columns beside short ones, among them one whose entries add up to zero.
    let n = 200_003;
    let mut noise = Noise::new(9);
    let mut entries: Vec<(usize, usize, T)> = (0..n).map(|i| (i, i, scalar(4.0, 0.0))).collect();
    entries.extend((1..n).map(|j| (0, j, one * T::from_f64(noise.value()))));
    entries.extend((1..n / 3).map(|j| (70_000, 3 * j, T::from_f64(-1.0))));
    entries.extend((0..n / 100).map(|j| (n - 1, 100 * j, T::from_f64(noise.value()))));
    let a = mirrored(n, entries);
    assert!(assert_inspected("long rows", context, &a).hermitian);
    let row: Vec<_> = a.row(70_000).filter(|entry| entry.0 != 70_000).map(|entry| entry.1.widen()).collect();
    let sum = row.iter().fold(scalar::<T::Wide>(0.0, 0.0), |sum, &v| sum + v);
    let null = changed(&a, (70_000, 70_000), Some(T::narrow(-sum)));
    assert!(assert_inspected("a long row that adds up to zero", context, &null).zero_sum_rows > 0);
    let apart = changed(&a, (n - 1, 100), Some(T::from_f64(7.0)));
    assert!(!assert_inspected("long rows, not symmetric", context, &apart).hermitian);
    // Row lengths by a power law.
    let mut entries = Vec::new();
    for i in 0..3000 {
        entries.extend((0..3000 / (i + 1)).map(|_| (i, noise.below(3000), scalar(noise.value(), noise.value()))));
    }
    assert!(assert_inspected("power law", context, &mirrored::<T>(3000, entries.clone())).hermitian);
    assert_inspected("power law", context, &CsrParts::from_triplets(3000, 3000, &entries).unwrap());
}

#[test]
fn inspection_agrees_with_the_definitions() {
    on_every_scalar!(sizes);
}

#[test]
fn asymmetry_beyond_rounding_is_found() {
    on_every_scalar!(asymmetry);
}

#[test]
fn numbers_that_are_not_finite_zeros_and_long_rows_are_inspected() {
    on_every_scalar!(unusual);
}

/// A matrix with a block of `size` at each of these positions, without the entries for which `is_left_out` holds.
fn of_nodes<T: Scalar>(
    nodes: usize,
    size: usize,
    near: &[isize],
    is_left_out: impl Fn(usize, usize) -> bool,
) -> CsrParts<T> {
    let mut entries = Vec::new();
    for node in 0..nodes {
        for other in near.iter().filter_map(|step| node.checked_add_signed(*step)).filter(|&other| other < nodes) {
            let inside = (0..size * size).map(|k| (k / size, k % size));
            let kept = inside.filter(|&(i, j)| node == other || !is_left_out(i, j));
            entries.extend(kept.map(|(i, j)| (node * size + i, other * size + j, T::from_f64(1.0))));
        }
    }
    CsrParts::from_triplets(nodes * size, nodes * size, &entries).unwrap()
}

fn nodes<T: Scalar>(context: &Context) {
    let plane = [-31, -30, -29, -1, 0, 1, 29, 30, 31];
    let check = |a: &CsrParts<T>, want: Option<usize>| {
        let got = unknowns_per_node(&Csr::from_parts(context, a).unwrap()).unwrap();
        assert_eq!(got, clinalg::precond::unknowns_per_node(a), "{context:?}");
        assert_eq!(got, want, "{context:?}");
    };
    for (size, want) in [(1, None), (2, Some(2)), (3, Some(3)), (4, None), (6, Some(6))] {
        check(&of_nodes(900, size, &plane, |_, _| false), want);
    }
    // A stencil, bands whose blocks are as dense wherever they begin, and a full matrix.
    check(&of_nodes(900, 1, &[-30, -1, 0, 1, 30], |_, _| false), None);
    check(&of_nodes(900, 1, &[-2, -1, 0, 1, 2], |_, _| false), None);
    check(&of_nodes(900, 1, &(-20..=20).collect::<Vec<_>>(), |_, _| false), None);
    check(&of_nodes(60, 1, &(-60..60).collect::<Vec<_>>(), |_, _| false), None);
    // Neighbours that couple equal components only; zeros that are not stored; other numbers of rows.
    check(&of_nodes(900, 2, &plane, |i, j| i != j), None);
    check(&of_nodes(900, 3, &plane, |i, j| i == 0 && j == 2), Some(3));
    check(&of_nodes(1, 2, &[0], |_, _| false), None);
    check(&of_nodes(2, 2, &[0], |_, _| false), Some(2));
    check(&of_nodes(40_000, 3, &[-200, -1, 0, 1, 200], |_, _| false), Some(3));
    // Dense blocks where they are looked for first, but not elsewhere.
    let mut blocks = of_nodes::<T>(600, 2, &plane, |_, _| false).triplets().collect::<Vec<_>>();
    blocks.retain(|&(i, j, _)| i == j || ((i / 2) % 9 == 0 && i / 2 == j / 2));
    check(&CsrParts::from_triplets(1200, 1200, &blocks).unwrap(), None);
    check(&CsrParts::from_triplets(0, 0, &[]).unwrap(), None);
    check(&CsrParts::from_triplets(12, 18, &[(0, 0, T::from_f64(1.0))]).unwrap(), None);
    check(&CsrParts::from_triplets(1200, 1200, &[]).unwrap(), None);
    // A full row and column beside dense blocks.
    let mut arrow = of_nodes::<T>(3000, 2, &[-1, 0, 1], |_, _| false).triplets().collect::<Vec<_>>();
    arrow.extend((0..6000).flat_map(|j| [(1, j, T::from_f64(1.0)), (j, 1, T::from_f64(1.0))]));
    let arrow = CsrParts::from_triplets(6000, 6000, &arrow).unwrap();
    check(&arrow, clinalg::precond::unknowns_per_node(&arrow));
}

#[test]
fn unknowns_per_node_are_found_on_the_device() {
    on_every_scalar!(nodes);
}

/// The Laplacian of a graph, with `extra` added to the diagonal at some rows.
fn laplacian<T: Scalar>(n: usize, edges: &[(usize, usize)], extra: &[usize]) -> CsrParts<T> {
    let mut entries: Vec<_> = extra.iter().map(|&i| (i, i, T::from_f64(1.0))).collect();
    for &(i, j) in edges {
        let weight = T::from_f64(1.0 + ((i + j) % 3) as f64);
        entries.extend([(i, i, weight), (j, j, weight), (i, j, -weight), (j, i, -weight)]);
    }
    CsrParts::from_triplets(n, n, &entries).unwrap()
}

/// A name, the size of a matrix, its couplings, and what else the case consists of.
type Case = (&'static str, usize, Vec<(usize, usize)>, Vec<usize>);

/// The components by a search, in the order of their first rows, without those with a row in `extra`.
fn searched(n: usize, edges: &[(usize, usize)], extra: &[usize]) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); n];
    edges.iter().for_each(|&(i, j)| {
        neighbours[i].push(j);
        neighbours[j].push(i);
    });
    let mut seen = vec![false; n];
    let mut components = Vec::new();
    for seed in 0..n {
        let mut open = vec![seed];
        let mut own = Vec::new();
        while let Some(i) = open.pop() {
            if !std::mem::replace(&mut seen[i], true) {
                own.push(i);
                open.extend(&neighbours[i]);
            }
        }
        own.sort_unstable();
        if !own.is_empty() && own.iter().all(|i| !extra.contains(i)) {
            components.push(own);
        }
    }
    components
}

fn components<T: Scalar>(context: &Context) {
    let mut noise = Noise::new(4);
    let chain = |first: usize, n: usize| (first..first + n - 1).map(|i| (i, i + 1)).collect::<Vec<_>>();
    // A chain whose neighbours have distant numbers.
    let scattered = |n: usize| (0..n - 1).map(|i| (i * 7919 % n, (i + 1) * 7919 % n)).collect::<Vec<_>>();
    let grid = |n: usize| {
        let across = (0..n * n).filter(move |p| p % n > 0).map(|p| (p - 1, p));
        across.chain((n..n * n).map(move |p| (p - n, p))).collect::<Vec<_>>()
    };
    let random: Vec<_> =
        (0..6000).map(|_| (noise.below(10_000), noise.below(10_000))).filter(|(i, j)| i != j).collect();
    let several = [chain(2, 40), chain(50, 300), chain(400, 1), chain(401, 257)].concat();
    let star: Vec<_> = (0..50_000).filter(|i| *i != 30_000).map(|i| (i, 30_000)).collect();
    let cases: Vec<Case> = vec![
        ("nothing", 0, vec![], vec![]),
        ("one row", 1, vec![], vec![]),
        ("one row that is not zero", 1, vec![], vec![0]),
        ("isolated rows", 300, vec![], vec![3, 299]),
        ("a chain", 100_000, chain(0, 100_000), vec![]),
        ("a chain with a Dirichlet condition", 100_000, chain(0, 100_000), vec![99_999]),
        ("a scattered chain", 100_000, scattered(100_000), vec![]),
        ("a grid", 40_000, grid(200), vec![]),
        ("a grid with a Dirichlet condition", 40_000, grid(200), vec![12_345]),
        ("several chains", 700, several.clone(), vec![]),
        ("several chains, one with a Dirichlet condition", 700, several, vec![60, 61]),
        ("a random graph", 10_000, random.clone(), vec![]),
        ("a random graph with Dirichlet conditions", 10_000, random, (0..10_000).step_by(173).collect()),
        ("a star", 50_000, star, vec![]),
    ];
    for (name, n, edges, extra) in cases {
        let a = laplacian::<T>(n, &edges, &extra);
        let got = zero_sum_components(&Csr::from_parts(context, &a).unwrap()).unwrap();
        assert_eq!(got, searched(n, &edges, &extra), "{name}, {context:?}");
        assert_eq!(got.len(), NullVectors::constants(&a).count(), "{name}, {context:?}");
    }
    // Zeros that are stored do not join: two chains with a zero between.
    let zero = T::from_f64(0.0);
    let mut entries: Vec<_> = laplacian::<T>(20, &[chain(0, 10), chain(10, 10)].concat(), &[]).triplets().collect();
    entries.extend((0..10).flat_map(|i| [(i, 19 - i, zero), (19 - i, i, zero)]));
    let a = CsrParts::from_triplets(20, 20, &entries).unwrap();
    let got = zero_sum_components(&Csr::from_parts(context, &a).unwrap()).unwrap();
    assert_eq!(got, [(0..10).collect::<Vec<_>>(), (10..20).collect()], "{context:?}");
    let a = Csr::from_triplets(context, 2, 3, &[(0, 0, zero)]).unwrap();
    assert_error(zero_sum_components(&a), "clinalg:argument:shape", "a");
}

#[test]
fn components_that_add_up_to_zero_are_those_of_a_search() {
    on_every_scalar!(components);
}
