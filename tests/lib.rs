//! Tests of the libraries from outside: `core` of clinalg, `bem` and `ode` of the crates of these names. Apart from the crates
//! they test, since they compile ten times as fast without optimisation.

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Cargo finds none of them by itself: one that is neither listed nor a module of one that is would never run.
    #[test]
    fn every_file_is_listed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let manifest: toml::Table = std::fs::read_to_string(root.join("Cargo.toml")).unwrap().parse().unwrap();
        let mut run: BTreeSet<String> = BTreeSet::new();
        for test in manifest["test"].as_array().unwrap() {
            let path = test["path"].as_str().unwrap();
            let folder = path.split_once('/').unwrap().0;
            let text = std::fs::read_to_string(root.join(path)).unwrap();
            let modules = text.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
            run.extend(modules.map(|module| format!("{folder}/{module}.rs")));
            run.insert(path.to_owned());
        }
        let files = ["bem", "core", "ode"].into_iter().flat_map(|folder| {
            let entries = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
            let names = entries.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".rs"));
            names.map(move |name| format!("{folder}/{name}"))
        });
        let missing: Vec<String> = files.filter(|file| !run.contains(file)).collect();
        assert!(missing.is_empty(), "tests/Cargo.toml and the programs in it do not list {missing:?}");
    }
}
