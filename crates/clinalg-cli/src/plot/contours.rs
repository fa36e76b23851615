//! Lines of equal value.

use std::collections::HashMap;

/// The part of the distance of levels by which the corners of a cell must differ for a line to cross it: a plain that rounding has made uneven has
/// no lines.
const PLAIN: f64 = 1e-4;

/// An edge of the grid: the index of its first point, and whether it leads up.
type Edge = (usize, bool);

/// Lines on which a field has the value `level`, linear between its points, in units of points: from side to side, or closed. `step` is the
/// distance of levels.
pub(super) fn lines(columns: usize, values: &[f64], level: f64, step: f64) -> Vec<Vec<(f64, f64)>> {
    let rows = values.len() / columns;
    let mut next: HashMap<Edge, Vec<Edge>> = HashMap::new();
    for j in 0..rows.saturating_sub(1) {
        for i in 0..columns.saturating_sub(1) {
            let at = j * columns + i;
            // Anticlockwise from the lower left.
            let corners = [at, at + 1, at + columns + 1, at + columns].map(|k| values[k]);
            let (low, high) =
                corners.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
            if !corners.iter().all(|v| v.is_finite()) || high - low < PLAIN * step {
                continue;
            }
            let edges = [(at, false), (at + 1, true), (at + columns, false), (at, true)];
            let above = corners.map(|v| v >= level);
            let crossed: Vec<usize> = (0..4).filter(|&k| above[k] != above[(k + 1) % 4]).collect();
            // On a saddle, the corners that are on the side of the middle are connected.
            let is_turned = crossed.len() == 4 && (corners.iter().sum::<f64>() / 4.0 >= level) == above[0];
            let pairs: &[[usize; 2]] = match crossed[..] {
                [_, _] => &[[0, 1]],
                [_, _, _, _] if is_turned => &[[0, 1], [2, 3]],
                [_, _, _, _] => &[[0, 3], [1, 2]],
                _ => &[],
            };
            for pair in pairs {
                let [a, b] = pair.map(|k| edges[crossed[k]]);
                next.entry(a).or_default().push(b);
                next.entry(b).or_default().push(a);
            }
        }
    }
    let place = |(at, up): Edge| {
        let other = if up { at + columns } else { at + 1 };
        let part = ((level - values[at]) / (values[other] - values[at])).clamp(0.0, 1.0);
        let (x, y) = ((at % columns) as f64, (at / columns) as f64);
        if up { (x, y + part) } else { (x + part, y) }
    };
    let mut starts: Vec<Edge> = next.keys().copied().collect();
    // Those that begin at a side first, then the closed ones; sorted, so that the same field gives the same picture.
    starts.sort_by_key(|edge| (next[edge].len(), *edge));
    let mut lines = Vec::new();
    for start in starts {
        let (mut line, mut at) = (Vec::new(), start);
        while let Some(to) = next.get_mut(&at).and_then(Vec::pop) {
            if let Some(back) = next.get_mut(&to) {
                back.retain(|edge| *edge != at);
            }
            if line.is_empty() {
                line.push(place(at));
            }
            line.push(place(to));
            at = to;
        }
        lines.extend((!line.is_empty()).then_some(line));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 65;

    fn of(f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let x = |k: usize| k as f64 / (N - 1) as f64;
        (0..N * N).map(|k| f(x(k % N), x(k / N))).collect()
    }

    /// Nodal lines stopped before the sides and had gaps where they cross.
    #[test]
    fn nodal_lines_reach_the_sides() {
        let pi = std::f64::consts::PI;
        let values = of(|x, y| (3.0 * pi * x).sin() * (2.0 * pi * y).sin());
        let lines = lines(N, &values, 0.0, 0.5);
        let length: f64 =
            lines.iter().flat_map(|line| line.windows(2)).map(|p| (p[1].0 - p[0].0).hypot(p[1].1 - p[0].1)).sum();
        // Two lines up and one across, and the sides, where rounding decides the sign.
        let (inner, last) = (3.0 * (N - 1) as f64, (N - 1) as f64);
        assert!(length > inner - 8.0 && length < inner + 4.0 * last + 8.0, "{length}");
        let ends: Vec<(f64, f64)> = lines.iter().flatten().copied().collect();
        for (x, y) in
            [(last / 3.0, 0.0), (last / 3.0, last), (2.0 * last / 3.0, 0.0), (0.0, last / 2.0), (last, last / 2.0)]
        {
            assert!(ends.iter().any(|p| (p.0 - x).hypot(p.1 - y) < 1.5), "{x}, {y}");
        }
    }

    #[test]
    fn a_circle_is_one_closed_line() {
        let lines = lines(N, &of(|x, y| (x - 0.5).hypot(y - 0.5)), 0.3, 0.1);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        let radius = |p: &(f64, f64)| (p.0 - 32.0).hypot(p.1 - 32.0) / 64.0;
        assert!(lines[0].iter().all(|p| (radius(p) - 0.3).abs() < 1e-3));
    }

    #[test]
    fn plains_and_what_is_not_finite_have_no_lines() {
        let noise = of(|x, y| 1e-9 * (1000.0 * x + 777.0 * y).sin());
        assert!(lines(N, &noise, 0.0, 0.2).is_empty());
        assert!(lines(N, &of(|_, _| f64::NAN), 0.0, 0.2).is_empty());
        assert!(lines(1, &[1.0, 2.0], 1.5, 0.2).is_empty());
    }
}
