//! Null vectors of the matrix of `clinalg solve`, and what to do about them.

use clinalg::precond::{NullVectors, unknowns_per_node};
use clinalg::{CsrParts, Error, Scalar};

/// The error about a matrix that only least-squares methods accept, with the option for one.
pub(super) fn with_lsmr(mut error: Error) -> Error {
    if let Error::Unsuitable { argument: "a", reason } = &mut error {
        reason.push_str(" (--method lsmr)");
    }
    error
}

/// Unknowns per node of a matrix that maps constants to 0 and may be that of a free elastic body: its nodes are dense blocks, or it maps the translations
/// along the axes to 0.
fn unknowns_of_body<T: Scalar>(a: &CsrParts<T>, constants: &NullVectors) -> Option<usize> {
    let moves = |&unknowns: &usize| {
        let moved = |d: usize| (0..a.rows).map(move |i| if i % unknowns == d { 1.0 } else { 0.0 });
        let motions: Vec<f64> = (0..unknowns).flat_map(moved).collect();
        let is_whole = a.rows.is_multiple_of(unknowns);
        is_whole && constants.clone().with_span(a, &motions).is_ok_and(|all| all.count() >= unknowns)
    };
    match constants.count() {
        1 => unknowns_per_node(a).or_else(|| [2, 3].into_iter().find(moves)),
        _ => None,
    }
}

/// A sentence about the option that finds all rigid motions, where A may be that of a free elastic body.
pub(super) fn about_coordinates<T: Scalar>(a: &CsrParts<T>, constants: &NullVectors) -> Option<String> {
    unknowns_of_body(a, constants).map(|unknowns| {
        format!(
            "A has {unknowns} unknowns per node: if it comes from an elastic body, rotations are null vectors too; --coordinates FILE finds them"
        )
    })
}

/// An error about a right-hand side with a further sentence.
pub(super) fn with_sentence(mut error: Error, sentence: Option<String>) -> Error {
    if let (Error::Unsuitable { reason, .. }, Some(sentence)) = (&mut error, sentence) {
        reason.push_str(". ");
        reason.push_str(&sentence);
    }
    error
}
