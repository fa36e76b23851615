//! The nodes and faces of a surface as messages name them.

/// Where a surface comes from, which decides what its nodes and faces are known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Arrays of the caller, counted from 1; the word for a face.
    Arrays(&'static str),
    /// Numbers of vertices, lines of faces.
    Obj,
    /// Numbers of nodes from 0, lines of faces.
    Off,
    /// Lines of both.
    StlText,
    /// Three corners of each facet, counted from 0; facets from 1.
    StlBinary,
    /// Tags.
    Gmsh,
}

/// What the source calls each node and face.
#[derive(Debug, Clone)]
pub(super) struct Numbers {
    pub(super) source: Source,
    pub(super) nodes: Vec<u64>,
    pub(super) faces: Vec<u64>,
}

impl Numbers {
    /// Of arrays.
    pub(super) fn of_arrays(face: &'static str) -> Numbers {
        Numbers { source: Source::Arrays(face), nodes: Vec::new(), faces: Vec::new() }
    }

    /// The node, such as "node 3".
    pub(super) fn node(&self, node: usize) -> String {
        self.nodes(&[node as u32])
    }

    /// The nodes, such as "nodes 1, 2 and 4"; one that stands twice is named once.
    pub(super) fn nodes(&self, nodes: &[u32]) -> String {
        let mut numbers: Vec<u64> =
            nodes.iter().map(|&node| self.nodes.get(node as usize).copied().unwrap_or(u64::from(node) + 1)).collect();
        numbers.dedup();
        let words = numbers.iter().map(|number| match self.source {
            Source::StlBinary => format!("corner {} of facet {}", number % 3 + 1, number / 3 + 1),
            _ => number.to_string(),
        });
        let words: Vec<String> = words.collect();
        let list = match &words[..] {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            _ => words.concat(),
        };
        let s = if words.len() > 1 { "s" } else { "" };
        match self.source {
            Source::Arrays(_) | Source::Gmsh => format!("node{s} {list}"),
            Source::Off => format!("node{s} {list} (counted from 0)"),
            Source::Obj if words.len() > 1 => format!("vertices {list}"),
            Source::Obj => format!("vertex {list}"),
            Source::StlText if words.len() > 1 => format!("the vertices in lines {list}"),
            Source::StlText => format!("the vertex in line {list}"),
            Source::StlBinary => list,
        }
    }

    /// The face, such as "triangle 5".
    pub(super) fn face(&self, face: usize) -> String {
        let number = self.faces.get(face).copied().unwrap_or(face as u64 + 1);
        match self.source {
            Source::Arrays(word) => format!("{word} {number}"),
            Source::Obj | Source::Off => format!("the face in line {number}"),
            Source::StlText => format!("the facet that ends in line {number}"),
            Source::StlBinary => format!("facet {number}"),
            Source::Gmsh => format!("element {number}"),
        }
    }
}
