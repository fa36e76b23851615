//! Which file of a crate names which, read from its paths.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The module of `lib.rs` and `main.rs`.
pub(super) const ROOT: &str = "crate";

/// A source file.
pub(super) struct File {
    /// From `src` on.
    pub(super) path: PathBuf,
    pub(super) lines: usize,
    /// Declared by a `mod` that only tests compile.
    pub(super) for_tests: bool,
    /// The path of its module in the crate; empty for the root.
    segments: Vec<String>,
}

impl File {
    /// The top-level module the file belongs to.
    pub(super) fn module(&self) -> &str {
        self.segments.first().map_or(ROOT, String::as_str)
    }

    pub(super) fn is_root(&self) -> bool {
        self.segments.is_empty()
    }
}

/// One file names something of another, first at this line. Arrows from the root, which declares all, are left out.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) line: usize,
}

pub(super) struct Graph {
    pub(super) files: Vec<File>,
    pub(super) arrows: Vec<Arrow>,
}

/// A path in a file, with the module that it is written in.
struct Mention {
    scope: Vec<String>,
    path: Vec<String>,
    line: usize,
}

impl Graph {
    /// Reads all files below `src`.
    pub(super) fn read(src: &Path) -> Result<Graph> {
        let mut files = Vec::new();
        let mut visitors = Vec::new();
        for path in sources(src)? {
            let text =
                std::fs::read_to_string(src.join(&path)).with_context(|| format!("cannot read {}", path.display()))?;
            let syntax = syn::parse_file(&text).with_context(|| format!("cannot parse {}", path.display()))?;
            let segments = segments(&path);
            let mut visitor = Visitor { scope: segments.clone(), ..Visitor::default() };
            visitor.visit_file(&syntax);
            visitors.push(visitor);
            files.push(File { path, lines: text.lines().count(), for_tests: false, segments });
        }
        mark_tests(&mut files, &visitors);
        let index: BTreeMap<Vec<String>, usize> =
            files.iter().enumerate().map(|(k, file)| (file.segments.clone(), k)).collect();
        let exports: Vec<_> = visitors.iter().map(|visitor| &visitor.exports).collect();
        let mut arrows = BTreeMap::new();
        for (from, visitor) in
            visitors.iter().enumerate().filter(|(from, _)| !files[*from].is_root() && !files[*from].for_tests)
        {
            for mention in &visitor.mentions {
                let Some(to) = resolve(&index, &exports, &mention.scope, &mention.path, 0) else { continue };
                if to != from && !files[to].is_root() {
                    arrows.entry((from, to)).or_insert(mention.line);
                }
            }
        }
        let arrows = arrows.into_iter().map(|((from, to), line)| Arrow { from, to, line }).collect();
        Ok(Graph { files, arrows })
    }

    /// Sets of files that reach each other and belong to more than one top-level module.
    pub(super) fn circles(&self) -> Vec<Vec<usize>> {
        let n = self.files.len();
        let mut reach = vec![vec![false; n]; n];
        for arrow in &self.arrows {
            reach[arrow.from][arrow.to] = true;
        }
        for k in 0..n {
            let through = reach[k].clone();
            for row in reach.iter_mut().filter(|row| row[k]) {
                row.iter_mut().zip(&through).for_each(|(to, &also)| *to |= also);
            }
        }
        let mut circles = BTreeSet::new();
        for (a, from) in reach.iter().enumerate() {
            let circle: Vec<usize> = (0..n).filter(|&b| a == b || from[b] && reach[b][a]).collect();
            if circle.iter().any(|&b| self.files[b].module() != self.files[a].module()) {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }
}

/// All `.rs` files below a folder, sorted, as paths from there.
fn sources(src: &Path) -> Result<Vec<PathBuf>> {
    let (mut found, mut open) = (Vec::new(), vec![src.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path.strip_prefix(src)?.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The module path of a file.
fn segments(path: &Path) -> Vec<String> {
    let stem = path.with_extension("");
    let mut segments: Vec<String> = stem.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if matches!(segments.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        segments.pop();
    }
    segments
}

/// Finds the files that a `mod` for tests declares.
fn mark_tests(files: &mut [File], visitors: &[Visitor]) {
    let declared: BTreeSet<&[String]> =
        visitors.iter().flat_map(|visitor| &visitor.test_modules).map(Vec::as_slice).collect();
    for file in files {
        file.for_tests = (1..=file.segments.len()).any(|k| declared.contains(&file.segments[..k]));
    }
}

type Exports = BTreeMap<String, (Vec<String>, Vec<String>)>;

/// The file that a path written in the module `scope` leads to, through re-exports.
fn resolve(
    index: &BTreeMap<Vec<String>, usize>,
    exports: &[&Exports],
    scope: &[String],
    path: &[String],
    depth: usize,
) -> Option<usize> {
    // Re-exports that name each other would lead round for ever.
    if depth > 16 {
        return None;
    }
    let mut full: Vec<String> = match path.first()?.as_str() {
        "crate" => Vec::new(),
        _ => scope.to_vec(),
    };
    for (k, segment) in path.iter().enumerate() {
        match segment.as_str() {
            "crate" | "self" => {}
            "super" => drop(full.pop()),
            name if k == 0 => {
                // A path without a start names a child module of its own; else a name in scope or another crate.
                full.push(name.to_owned());
                index.get(&full)?;
            }
            name => full.push(name.to_owned()),
        }
    }
    let known = (0..=full.len()).rev().find(|&k| index.contains_key(&full[..k]))?;
    let file = index[&full[..known]];
    match full.get(known).and_then(|name| exports[file].get(name)) {
        Some((scope, target)) => {
            let target = [target.as_slice(), &full[known + 1..]].concat();
            resolve(index, exports, scope, &target, depth + 1).or(Some(file))
        }
        None => Some(file),
    }
}

#[derive(Default)]
struct Visitor {
    scope: Vec<String>,
    mentions: Vec<Mention>,
    /// Names that `use` brings into the file: the module it stands in and the path.
    exports: Exports,
    test_modules: Vec<Vec<String>>,
}

impl Visitor {
    fn mention(&mut self, path: Vec<String>, line: usize) {
        self.mentions.push(Mention { scope: self.scope.clone(), path, line });
    }

    fn walk_use(&mut self, before: &[String], tree: &syn::UseTree) {
        let line = tree.span().start().line;
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.walk_use(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.bring(with(&name.ident), name.ident.to_string(), line),
            syn::UseTree::Rename(name) => self.bring(with(&name.ident), name.rename.to_string(), line),
            syn::UseTree::Glob(_) => self.mention(before.to_vec(), line),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.walk_use(before, tree)),
        }
    }

    fn bring(&mut self, path: Vec<String>, name: String, line: usize) {
        self.mention(path.clone(), line);
        self.exports.insert(name, (self.scope.clone(), path));
    }

    /// Paths inside a macro call, which the parser does not see.
    fn walk_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut colons, mut line) = (0, 0);
        for token in tokens {
            match &token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.finish(&mut path, line);
                        line = ident.span().start().line;
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.finish(&mut path, line);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.walk_tokens(group.stream());
                    }
                }
            }
        }
        self.finish(&mut path, line);
    }

    fn finish(&mut self, path: &mut Vec<String>, line: usize) {
        if matches!(path.first().map(String::as_str), Some("crate" | "super" | "self")) && path.len() > 1 {
            self.mention(std::mem::take(path), line);
        }
        path.clear();
    }
}

/// Whether an item is compiled for tests only.
fn for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        list.path.is_ident("cfg") && matches!(list.tokens.to_string().as_str(), "test" | "doctest")
    })
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Visitor {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if for_tests(attributes(item)) {
            if let syn::Item::Mod(module) = item {
                self.test_modules.push([self.scope.as_slice(), &[module.ident.to_string()]].concat());
            }
            return;
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.scope.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.scope.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.walk_use(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 && path.leading_colon.is_none() {
            self.mention(segments, path.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.walk_tokens(call.tokens.clone());
    }
}
