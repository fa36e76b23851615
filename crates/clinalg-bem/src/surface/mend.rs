//! What files of surfaces have and bodies have not: corners of one point that rounding moved apart, faces without area, spare nodes.

use clinalg::number;
use std::collections::HashMap;
use std::path::Path;

use super::read::Surface;
use super::{Numbers, Point, norm, sub};

/// By how much the coordinates of one point may differ, relative to the largest coordinate: some units of single precision, in which many
/// programs compute.
const ROUNDING: f64 = 4.0 * (f32::EPSILON as f64) / 2.0;

/// The surface with nodes on open edges joined where they are one point, and without faces whose corners coincide and nodes of no face. A
/// surface that is closed keeps its nodes apart, however near they are.
pub(super) fn mended(path: &Path, surface: Surface) -> Surface {
    let Surface { nodes, elements, numbers } = surface;
    let numbered: Vec<(usize, [u32; 4])> = elements.into_iter().enumerate().collect();
    let mut flat = Vec::new();
    let mut faces = with_area(numbered, &mut flat);
    let (joined, count, gap) = join(&nodes, &on_open_edges(&faces));
    if count > 0 {
        faces.iter_mut().for_each(|(_, face)| *face = face.map(|node| joined[node as usize]));
        faces = with_area(faces, &mut flat);
        if gap > 0.0 {
            log::warn!(
                target: "clinalg",
                "{}: {count} nodes on open edges were joined with nodes at most {} away, as rounding to single precision moves them",
                path.display(),
                number(gap, 2)
            );
        }
    }
    if let Some(first) = flat.iter().min() {
        log::warn!(
            target: "clinalg",
            "{}: {} of its faces, the first of them {}, have coinciding corners and were left out",
            path.display(),
            flat.len(),
            numbers.face(*first)
        );
    }
    used(&nodes, faces, &numbers)
}

/// The faces with three different corners or more; one whose corner stands twice loses it. The numbers of the others go to `flat`.
fn with_area(faces: Vec<(usize, [u32; 4])>, flat: &mut Vec<usize>) -> Vec<(usize, [u32; 4])> {
    let mut kept = Vec::with_capacity(faces.len());
    for (number, face) in faces {
        let mut corners = face.to_vec();
        corners.dedup();
        if corners.len() > 1 && corners.first() == corners.last() {
            corners.pop();
        }
        match corners[..] {
            [a, b, c] => kept.push((number, [a, b, c, c])),
            [_, _, _, _] => kept.push((number, face)),
            _ => flat.push(number),
        }
    }
    kept
}

/// The nodes at edges of a single face, in ascending order.
fn on_open_edges(faces: &[(usize, [u32; 4])]) -> Vec<u32> {
    let mut count: HashMap<(u32, u32), usize> = HashMap::with_capacity(2 * faces.len());
    for (_, face) in faces {
        for (a, b) in (0..4).map(|k| (face[k], face[(k + 1) % 4])).filter(|(a, b)| a != b) {
            *count.entry((a.min(b), a.max(b))).or_default() += 1;
        }
    }
    let mut open: Vec<u32> =
        count.into_iter().filter(|(_, faces)| *faces == 1).flat_map(|((a, b), _)| [a, b]).collect();
    open.sort_unstable();
    open.dedup();
    open
}

/// The node that stands for each, the number of those replaced, and the largest distance of a replaced one.
fn join(nodes: &[Point], open: &[u32]) -> (Vec<u32>, usize, f64) {
    let mut joined: Vec<u32> = (0..nodes.len() as u32).collect();
    let at = |node: u32| nodes[node as usize];
    let largest = open.iter().flat_map(|&node| at(node)).map(f64::abs).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let tolerance = ROUNDING * largest;
    let mut order = open.to_vec();
    order.sort_by(|&a, &b| at(a)[0].total_cmp(&at(b)[0]).then(a.cmp(&b)));
    let (mut count, mut gap) = (0, 0.0_f64);
    for (k, &node) in order.iter().enumerate() {
        if joined[node as usize] != node {
            continue;
        }
        // Every node is compared with the one that stays: chains do not grow.
        let near = order[k + 1..].iter().take_while(|&&other| at(other)[0] - at(node)[0] <= tolerance);
        for &other in near.filter(|&&other| (0..3).all(|d| (at(other)[d] - at(node)[d]).abs() <= tolerance)) {
            if joined[other as usize] == other {
                joined[other as usize] = node;
                count += 1;
                gap = gap.max(norm(sub(at(other), at(node))));
            }
        }
    }
    (joined, count, gap)
}

/// The nodes of faces, in their order, and the faces with their places.
fn used(nodes: &[Point], faces: Vec<(usize, [u32; 4])>, numbers: &Numbers) -> Surface {
    let mut place = vec![u32::MAX; nodes.len()];
    faces.iter().flat_map(|(_, face)| face).for_each(|&node| place[node as usize] = 0);
    let (mut kept, mut kept_numbers) = (Vec::new(), Vec::new());
    for (node, place) in place.iter_mut().enumerate().filter(|(_, place)| **place == 0) {
        *place = kept.len() as u32;
        kept.push(nodes[node]);
        kept_numbers.push(numbers.nodes[node]);
    }
    Surface {
        nodes: kept,
        elements: faces.iter().map(|(_, face)| face.map(|node| place[node as usize])).collect(),
        numbers: Numbers {
            source: numbers.source,
            nodes: kept_numbers,
            faces: faces.iter().map(|(k, _)| numbers.faces[*k]).collect(),
        },
    }
}
