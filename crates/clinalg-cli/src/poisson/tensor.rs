//! A tensor that varies on a box.

use clinalg::Real;
use clinalg::multigrid::Tensor;

use crate::data::{InputField, Lattice};
use crate::exit::{Failure, usage};

/// The entries of the tensor.
#[derive(clap::Args)]
#[group(id = "tensor", multiple = true, conflicts_with_all = ["coefficient", "diffusion", "mixed"])]
pub(super) struct TensorArgs {
    /// Entry of a tensor D that varies over the box: a formula, evaluated at the centres of the cells, or a file with a value for each cell [default: 1]
    #[arg(long, value_name = "FORMULA|FILE", allow_hyphen_values = true)]
    dxx: Option<String>,
    /// As --dxx
    #[arg(long, value_name = "FORMULA|FILE", allow_hyphen_values = true)]
    dyy: Option<String>,
    /// As --dxx, in three dimensions
    #[arg(long, value_name = "FORMULA|FILE", allow_hyphen_values = true)]
    dzz: Option<String>,
    /// As --dxx, for an off-diagonal entry [default: 0]
    #[arg(long, value_name = "FORMULA|FILE", allow_hyphen_values = true)]
    dxy: Option<String>,
    /// As --dxy, in three dimensions
    #[arg(long, value_name = "FORMULA|FILE", allow_hyphen_values = true)]
    dxz: Option<String>,
    /// As --dxy, in three dimensions
    #[arg(long, value_name = "FORMULA|FILE", allow_hyphen_values = true)]
    dyz: Option<String>,
}

/// Values of the entries in the cells.
pub(super) struct Entries<T> {
    diagonal: [Vec<T>; 3],
    mixed: [Vec<T>; 3],
}

impl TensorArgs {
    /// Options with what was given for them, the diagonal first.
    fn all(&self) -> [(&'static str, &Option<String>); 6] {
        [
            ("--dxx", &self.dxx),
            ("--dyy", &self.dyy),
            ("--dzz", &self.dzz),
            ("--dxy", &self.dxy),
            ("--dxz", &self.dxz),
            ("--dyz", &self.dyz),
        ]
    }

    /// Whether an entry is given.
    pub(super) fn is_given(&self) -> bool {
        self.all().iter().any(|(_, text)| text.is_some())
    }

    /// `dxx = 1 + x`, ...; empty where none is given.
    pub(super) fn descriptions(&self) -> Vec<String> {
        let given = |(option, text): (&str, &Option<String>)| {
            text.as_ref().map(|text| format!("{} = {text}", option.trim_start_matches('-')))
        };
        self.all().into_iter().filter_map(given).collect()
    }

    /// The entries, if one is given.
    pub(super) fn entries<T: Real>(&self, lattice: &Lattice) -> Result<Option<Entries<T>>, Failure> {
        if !self.is_given() {
            return Ok(None);
        }
        let all = self.all();
        let dim = lattice.dim();
        if let Some((option, _)) = [2, 4, 5].map(|k| all[k]).iter().find(|(_, text)| dim == 2 && text.is_some()) {
            return usage!("{option} is for three dimensions; the grid has two");
        }
        let cells = lattice.cell_shape().iter().product();
        let values = |k: usize| match all[k] {
            (option, Some(text)) => InputField::new(option, text, dim)?.in_cells(lattice),
            _ if k < 3 => Ok(vec![T::one(); cells]),
            _ => Ok(Vec::new()),
        };
        Ok(Some(Entries {
            diagonal: [values(0)?, values(1)?, values(2)?],
            mixed: [values(3)?, values(4)?, values(5)?],
        }))
    }
}

impl<T> Entries<T> {
    pub(super) fn borrowed(&self) -> Tensor<'_, T> {
        Tensor {
            diagonal: self.diagonal.each_ref().map(Vec::as_slice),
            mixed: self.mixed.each_ref().map(Vec::as_slice),
        }
    }

    /// All values, with the number of those of each entry.
    pub(super) fn each(&self) -> impl Iterator<Item = &Vec<T>> {
        self.diagonal.iter().chain(&self.mixed)
    }
}
