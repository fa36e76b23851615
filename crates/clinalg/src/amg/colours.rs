//! Colours for Gauss-Seidel sweeps, found on the device.

use crate::matrix::Structure;
use crate::ops::{items, sparse};
use crate::runtime::kernels::amg_colours::Program;
use crate::solve::ColouredRows;
use crate::{Buffer, Csr, Real, Result};

/// Rounds of the colouring between two checks for uncoloured rows.
const ROUNDS: usize = 4;

/// The rows of `a` by colours: no entry, on either side of the diagonal, couples two rows of one colour.
pub(super) fn by_colours<T: Real>(a: &Csr<T>) -> Result<ColouredRows> {
    if let Some(rows) = coloured::<T>(a.structure())? {
        return Ok(rows);
    }
    // Where the pattern is not symmetric, a row does not see all rows that are coupled to it.
    let transposed = a.entries().transposed()?;
    let both = sparse::combine(T::one(), a.entries(), T::one(), (&transposed).into())?;
    Ok(coloured::<T>(&both.structure)?.expect("in a symmetric pattern each row sees all that are coupled to it"))
}

/// The rows of a matrix by colours; `None` if a row has the same colour as one that is coupled to it only in the other direction.
fn coloured<T: Real>(s: &Structure) -> Result<Option<ColouredRows>> {
    let (context, rows) = (s.offset.context(), s.rows);
    let (program, range) = (Program::<f32>::new(), items(context, rows));
    let mut colour = Buffer::<u32>::zeroed(context, rows)?;
    let mut next = Buffer::<u32>::uninit(context, rows)?;
    loop {
        let mut left = Buffer::<u32>::zeroed(context, ROUNDS)?;
        for round in 0..ROUNDS as u32 {
            program.colour_rows(context, range, rows, round, &s.offset, &s.column, &colour, &mut next, &mut left)?;
            std::mem::swap(&mut colour, &mut next);
        }
        if left.to_vec()?[ROUNDS - 1] == 0 {
            break;
        }
    }
    let mut found = Buffer::<u32>::zeroed(context, 2)?;
    program.check_colours(context, range, rows, &s.offset, &s.column, &colour, &mut found)?;
    let found = found.to_vec()?;
    if found[0] != 0 {
        return Ok(None);
    }
    // The colours of the last round but one are not needed any more.
    let (mut flag, mut row) = (next, Buffer::<u32>::uninit(context, rows)?);
    let mut starts = vec![0];
    for which in 1..=found[1] {
        program.flag_colour(context, range, rows, which, &colour, &mut flag)?;
        let (number, count) = sparse::scan::<T>(context, &flag)?;
        let first = starts[starts.len() - 1];
        program.list_colour(context, range, rows, which, first as u32, &colour, &number, &mut row)?;
        starts.push(first + count);
    }
    Ok(Some(ColouredRows::new(row, starts)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::devices;
    use crate::{Context, ContextOptions, KernelFamily};

    #[test]
    fn coupled_rows_have_different_colours() {
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        let n = 40_usize;
        let grid = |entries: &mut Vec<(usize, usize, f64)>, both: bool| {
            for i in 0..n * n {
                entries.push((i, i, 4.0));
                for j in [i + 1, i + n].into_iter().filter(|&j| j < n * n) {
                    entries.push((i, j, -1.0));
                    if both {
                        entries.push((j, i, -1.0));
                    }
                }
            }
        };
        // More colours than fit a word.
        let dense = |entries: &mut Vec<(usize, usize, f64)>| {
            for i in 0..70 {
                entries.extend((0..70).map(|j| (i, j, 1.0)));
            }
        };
        for family in [KernelFamily::Cpu, KernelFamily::Gpu] {
            let options = ContextOptions { family: Some(family), ..ContextOptions::default() };
            let context = Context::new(&devices[0], &options).unwrap();
            for (case, most) in [(0, 6), (1, 8), (2, 76)] {
                let mut entries = Vec::new();
                grid(&mut entries, case != 1);
                if case == 2 {
                    dense(&mut entries);
                }
                let a = Csr::from_triplets(&context, n * n, n * n, &entries).unwrap();
                let coloured = by_colours(&a).unwrap();
                let (rows, starts) = coloured.parts().unwrap();
                let mut colour = vec![usize::MAX; n * n];
                for (which, ends) in starts.windows(2).enumerate() {
                    assert!(ends[0] < ends[1] && rows[ends[0]..ends[1]].is_sorted(), "{case}");
                    rows[ends[0]..ends[1]].iter().for_each(|&i| colour[i as usize] = which);
                }
                assert!(
                    colour.iter().all(|&which| which != usize::MAX) && starts.len() <= most + 1,
                    "{case}: {starts:?}"
                );
                assert!(entries.iter().all(|&(i, j, _)| i == j || colour[i] != colour[j]), "{case}");
                assert_eq!(by_colours(&a).unwrap().parts().unwrap(), (rows, starts));
            }
        }
    }
}
