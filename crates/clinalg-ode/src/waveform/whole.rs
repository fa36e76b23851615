//! Right-hand sides that read more than neighbours at known offsets: sums over all points, and OpenCL C.
//!
//! Both have the splitting of formulas: what belongs to the own block is read from the current iterate, everything else from the
//! previous one. A sum is added up by the item of its point, in the order of the kernels of the method itself, so that it has the
//! same bits. OpenCL C reads components by `Y(j)`, which chooses between the two by the index. A component further away than
//! declared, where that is not in memory, is NaN.

use clinalg::Real;

use crate::codegen::all_pairs::Sums;
use crate::codegen::snippet;
use crate::method::graph::Value;
use crate::model::formula::Expr;
use crate::waveform::boundary::NOT_STORED;
use crate::waveform::kernel::Sweep;
use crate::waveform::options::{Copies, Storage};
use crate::waveform::partition::Partition;

impl<T: Real> Sweep<'_, T> {
    /// The sums in the formula of field `f`, each once.
    fn sums_of(&self, f: usize) -> Vec<&Expr> {
        let mut all = Vec::new();
        self.writer.system.formulas[f].walk(&mut |e| {
            if let Expr::Sum(inner) = e
                && !all.contains(&&**inner)
            {
                all.push(&**inner);
            }
        });
        all
    }

    /// The sums in the formula of field `f` at point `p`; empty if there is none. See [`Sums::alone`].
    pub(super) fn sums(
        &self,
        f: usize,
        v: Value,
        own: &dyn Fn(usize) -> String,
        source: &dyn Fn(usize) -> String,
    ) -> String {
        match self.sums_of(f) {
            sums if sums.is_empty() => String::new(),
            sums => Sums::<T>::of(self.writer.system, v, sums).alone(self.writer.family, own, source),
        }
    }

    /// What stands for a sum, or for OpenCL C that reads by these arguments.
    pub(super) fn whole(&self, f: usize, v: Value, leaf: &Expr, arguments: &str) -> String {
        match leaf {
            Expr::Sum(sum) => {
                let m =
                    self.sums_of(f).iter().position(|s| *s == &**sum).expect("the sums of the formula are all there");
                format!("s{}_{m}", v.0)
            }
            _ => format!("waveform_derivative(p, t{}, par, {arguments})", v.0),
        }
    }

    /// A value declared after what it needs, whose names stay inside.
    pub(super) fn assigned(&self, name: &str, before: &str, value: &str) -> String {
        match before.is_empty() {
            true => format!("const REAL {name} = {value};"),
            false => format!("REAL {name};\n{{\n{before}{name} = {value};\n}}"),
        }
    }

    /// The function of the system's OpenCL C, and how it reads a component; empty for formulas.
    pub(super) fn snippet(&self) -> String {
        let system = self.writer.system;
        let Some(snippet) = &system.snippet else { return String::new() };
        const TILE: [(&str, &str); 2] = [("__local const REAL *", "tile"), ("const idx ", "first")];
        let (more, body): (Vec<(&str, &str)>, String) =
            match (self.options.partition, self.options.copies, self.options.storage) {
                (Partition::Block([size, ..]), _, storage) => {
                    let inside = format!("if (j >= first && j < first + {size})\nreturn tile[j - first];\n");
                    let missing = format!("number == {NOT_STORED}u ? (REAL)NAN : row[number]");
                    match storage {
                        Storage::All => (TILE.to_vec(), inside + "return row[j];"),
                        Storage::Boundary => (
                            [&[("__global const uint *", "numbers")][..], &TILE].concat(),
                            inside + &format!("const uint number = numbers[j];\nreturn {missing};"),
                        ),
                    }
                }
                (_, Copies::None, _) => (vec![("const REAL ", "own")], "return j == i ? own : row[j];".into()),
                (_, Copies::All, _) => (vec![("const idx ", "shift")], "return row[PLACE(j - shift)];".into()),
                (_, Copies::AccessDistance, _) => {
                    let far = format!("j - i > {d} || i - j > {d}", d = snippet.distance);
                    (vec![("const idx ", "shift")], format!("return {far} ? (REAL)NAN : row[PLACE(j - shift)];"))
                }
            };
        let upper = |name: &str| format!("WAVEFORM_{}", name.to_uppercase());
        let list = |item: &dyn Fn(&(&str, &str)) -> String| more.iter().map(item).collect::<Vec<_>>().join(", ");
        let access = format!("waveform_value((j), I, STATE, {})", list(&|(_, name)| upper(name)));
        let arguments = list(&|(kind, name)| format!("{kind}{}", upper(name)));
        let declared = list(&|(kind, name)| format!("{kind}{name}"));
        format!(
            "inline REAL waveform_value(const idx j, const idx i, __global const REAL *row, {declared})\n{{\n{body}\n}}\n{}",
            snippet::reading(system, snippet, "waveform_derivative", &arguments, &access)
        )
    }
}
