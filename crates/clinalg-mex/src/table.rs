//! The functions of the gateway by name and by number.

use std::sync::OnceLock;

use crate::function::Function;
use crate::functions;

/// All functions by name.
pub(crate) fn all() -> &'static [&'static Function] {
    static SORTED: OnceLock<Vec<&'static Function>> = OnceLock::new();
    SORTED.get_or_init(|| {
        let mut all: Vec<_> = functions::GROUPS.iter().flat_map(|(_, group)| group.iter().copied().flatten()).collect();
        all.sort_by_key(|f| f.name);
        all
    })
}

pub(crate) fn by_name(name: &str) -> Option<&'static Function> {
    let all = all();
    all.binary_search_by(|f| f.name.cmp(name)).ok().map(|at| all[at])
}

/// The function at a 1-based position of [`all`].
pub(crate) fn by_number(number: f64) -> Option<&'static Function> {
    let index = number - 1.0;
    let fits = index >= 0.0 && index < all().len() as f64 && index.fract() == 0.0;
    fits.then(|| all()[index as usize])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::args::MAX_INPUTS;

    #[test]
    fn the_table_is_consistent() {
        for window in all().windows(2) {
            assert!(window[0].name < window[1].name, "{} occurs twice", window[0].name);
        }
        for f in all() {
            assert!(f.inputs.len() <= MAX_INPUTS && f.required <= f.inputs.len(), "{}", f.name);
            assert!(!f.title.is_empty() && f.title.ends_with('.'), "{}: title", f.name);
            assert!(!f.text.is_empty() && !f.example.is_empty() && !f.see.is_empty(), "{}: help", f.name);
            for other in f.see {
                assert!(by_name(other).is_some(), "{} refers to {other}", f.name);
            }
        }
    }

    /// The page of all bindings names these functions and no others, and C gives arguments of the same names the same meaning.
    #[test]
    fn functions_match_the_page_of_functions() {
        use crate::args::Kind;
        use clinalg_testing::bindings::{arguments, declarations, functions, header, name};
        let functions = functions();
        let named: BTreeSet<_> = functions.iter().flat_map(|f| f.matlab.names()).map(String::as_str).collect();
        let here: BTreeSet<_> = all().iter().map(|f| f.name).collect();
        assert_eq!(named, here);
        let declared = declarations(&header());
        let mut compared = 0;
        for function in &functions {
            let Some(declaration) = declared.iter().find(|d| function.c_name() == Some(name(d))) else { continue };
            for ours in function.matlab.names() {
                let inputs = by_name(ours).expect("compared above").inputs;
                for (kind, argument) in arguments(declaration) {
                    let Some(input) = inputs.iter().find(|input| input.core == argument) else { continue };
                    let fits: &[Kind] = match kind {
                        "clinalg_handle" | "clinalg_handle *" => &[Kind::Handle, Kind::Object, Kind::TextOrHandle],
                        "double" => &[Kind::Real, Kind::Number],
                        "clinalg_complex" => &[Kind::Number],
                        "size_t" => &[Kind::Count],
                        "const char *" => &[Kind::Text],
                        _ => continue,
                    };
                    assert!(
                        fits.contains(&input.kind),
                        "{ours}: `{}` is a {:?}, in C a {kind}",
                        input.name,
                        input.kind
                    );
                    compared += 1;
                }
            }
        }
        assert!(compared > 50, "only {compared} arguments were compared");
    }

    #[test]
    fn numbers_count_from_one() {
        assert_eq!(by_number(1.0).map(|f| f.name), Some(all()[0].name));
        for number in [0.0, -1.0, 1.5, f64::NAN, 1e300] {
            assert!(by_number(number).is_none());
        }
    }
}
