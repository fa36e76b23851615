//! Surfaces from files: OBJ, OFF, STL, Gmsh 2 or 4, ASCII.

use std::collections::HashMap;
use std::io::{Cursor, ErrorKind};
use std::path::Path;
use std::str::FromStr;

use clinalg::io::{read_bytes, read_text};
use clinalg::{Error, Result};

use super::mend::mended;
use super::numbers::{Numbers, Source};
use super::{ElementMesh, Mesh, Point};

/// A surface not yet checked: nodes; quadrilaterals, and triangles whose last node stands twice.
pub(super) struct Surface {
    pub(super) nodes: Vec<Point>,
    pub(super) elements: Vec<[u32; 4]>,
    /// Those of the file.
    pub(super) numbers: Numbers,
}

impl Surface {
    fn new(source: Source) -> Surface {
        let numbers = Numbers { source, nodes: Vec::new(), faces: Vec::new() };
        Surface { nodes: Vec::new(), elements: Vec::new(), numbers }
    }

    fn add_node(&mut self, point: Point, number: u64) {
        self.nodes.push(point);
        self.numbers.nodes.push(number);
    }

    fn add_element(&mut self, element: [u32; 4], number: u64) {
        self.elements.push(element);
        self.numbers.faces.push(number);
    }

    /// Adds a polygon as one element, or from its first corner on as triangles if it has more than four.
    fn add_polygon(&mut self, corners: &[u32], number: u64) {
        match *corners {
            [a, b, c, d] => self.add_element([a, b, c, d], number),
            _ => (2..corners.len())
                .for_each(|k| self.add_element(triangle([corners[0], corners[k - 1], corners[k]]), number)),
        }
    }

    /// Quadrilaterals cut from the first corner to the third.
    fn cut_in_triangles(self) -> Result<Mesh> {
        let Surface { nodes, elements, mut numbers } = self;
        let (mut triangles, mut faces) = (Vec::with_capacity(elements.len()), Vec::with_capacity(elements.len()));
        for (&[a, b, c, d], &number) in elements.iter().zip(&numbers.faces) {
            triangles.push([a, b, c]);
            faces.push(number);
            if c != d {
                triangles.push([a, c, d]);
                faces.push(number);
            }
        }
        numbers.faces = faces;
        Mesh::numbered(nodes, triangles, &numbers)
    }
}

fn triangle([a, b, c]: [u32; 3]) -> [u32; 4] {
    [a, b, c, c]
}

/// The surface in `path`.
fn read(path: &Path) -> Result<Surface> {
    read_as_written(path).map(|surface| mended(path, surface))
}

/// The surface with the nodes and elements of the file.
fn read_as_written(path: &Path) -> Result<Surface> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "obj" => read_obj(path),
        "off" => Lines::of(path)?.off(),
        "stl" => read_stl(path),
        "msh" => Lines::of(path)?.gmsh(),
        _ => {
            let (expected, got) = ("a file .obj, .off, .stl or .msh".into(), path.display().to_string());
            Err(Error::Value { argument: "mesh", expected, got })
        }
    }
}

fn io(path: &Path, source: std::io::Error) -> Error {
    Error::Io { path: path.to_owned(), source }
}

impl Mesh {
    /// Reads the surface in `path`; the extension tells the format: `.obj`, `.off`, `.stl` (both
    /// kinds) or `.msh` (Gmsh 2 or 4, ASCII). Polygons are cut into triangles. Corners in STL and OBJ files are
    /// joined where their coordinates are equal; in all files, nodes on open edges where their coordinates agree up to the rounding of
    /// single precision. Faces whose corners coincide and nodes of no face are left out. Joined nodes that differ and faces left out are
    /// reported as a warning through `log`. Of Gmsh files triangles and quadrangles
    /// of the first order are taken; lines and volumes are left out.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Format`] with the line; [`Error::Value`] for another extension; those
    /// of [`Mesh::new`].
    pub fn read(path: impl AsRef<Path>) -> Result<Mesh> {
        read(path.as_ref())?.cut_in_triangles()
    }
}

impl ElementMesh {
    /// Reads the closed surface in `path` as [`Mesh::read`] does, but keeps quadrilaterals; polygons with more corners are cut
    /// into triangles. All elements carry unknowns.
    ///
    /// # Errors
    /// As [`Mesh::read`]; those of [`ElementMesh::new`].
    pub fn read(path: impl AsRef<Path>) -> Result<ElementMesh> {
        let Surface { nodes, elements, numbers } = read(path.as_ref())?;
        let count = elements.len();
        ElementMesh::numbered(nodes, elements, count, &numbers)
    }
}

/// The lines of an OBJ file, those that a backslash continues joined with the next; empty lines keep the numbers of those behind.
fn without_continuations(bytes: &[u8]) -> Vec<u8> {
    let (mut lines, mut joined) = (Vec::with_capacity(bytes.len()), 0);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let is_comment = joined == 0 && line.trim_ascii_start().starts_with(b"#");
        match line.trim_ascii_end().strip_suffix(b"\\") {
            Some(begin) if !is_comment => {
                lines.extend_from_slice(begin);
                lines.push(b' ');
                joined += 1;
            }
            _ => {
                lines.extend_from_slice(line);
                lines.resize(lines.len() + std::mem::take(&mut joined), b'\n');
            }
        }
    }
    lines
}

fn read_obj(path: &Path) -> Result<Surface> {
    let bytes = without_continuations(&read_bytes(path).map_err(|source| io(path, source))?);
    let options = tobj::LoadOptions { ignore_points: true, ignore_lines: true, ..Default::default() };
    // Materials do not matter here.
    let load = |bytes: &[u8]| tobj::load_obj_buf(&mut Cursor::new(bytes), &options, |_| Ok(Default::default()));
    let (models, _) = load(&bytes).map_err(|error| {
        // The reader does not say where: the shortest beginning of the file that it refuses tells.
        let ends: Vec<usize> = (0..bytes.len()).filter(|&k| bytes[k] == b'\n').collect();
        let line = ends.partition_point(|&end| load(&bytes[..=end]).is_ok()) + 1;
        Error::Format { path: path.to_owned(), line, reason: error.to_string() }
    })?;
    let mut surface = Surface::new(Source::Obj);
    // Objects of one file have their own copies of common vertices, in an order of their own.
    let mut known = Joined::default();
    let mut lines = Vec::new();
    let mut vertices = 0;
    for (k, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        match words.next() {
            Some("v") => {
                vertices += 1;
                let mut coordinate = || words.next().and_then(|word| word.parse::<f64>().ok());
                if let (Some(x), Some(y), Some(z)) = (coordinate(), coordinate(), coordinate()) {
                    known.index([x, y, z], vertices, &mut surface);
                }
            }
            // Shorter ones are points and lines.
            Some("f") if words.count() > 2 => lines.push(k as u64 + 1),
            _ => {}
        }
    }
    let mut lines = lines.into_iter();
    for model in models {
        let points: Vec<u32> = model
            .mesh
            .positions
            .chunks_exact(3)
            .map(|p| known.index([p[0], p[1], p[2]], vertices, &mut surface))
            .collect();
        let corners: Vec<u32> = model.mesh.indices.iter().map(|&k| points[k as usize]).collect();
        let mut rest = &corners[..];
        // Without numbers of corners all faces are triangles.
        let mut counts = model.mesh.face_arities.iter().map(|&count| count as usize);
        while !rest.is_empty() {
            let (face, behind) = rest.split_at(counts.next().unwrap_or(3).min(rest.len()));
            surface.add_polygon(face, lines.next().unwrap_or_default());
            rest = behind;
        }
    }
    Ok(surface)
}

/// Bytes before the facets of a binary STL file, the last four of them their number, and bytes of each.
const STL_HEAD: usize = 84;
const STL_FACET: usize = 50;

fn read_stl(path: &Path) -> Result<Surface> {
    let bytes = read_bytes(path).map_err(|source| io(path, source))?;
    // Binary files may begin with the word as well.
    let text = bytes.trim_ascii_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    if text && !bytes.contains(&0) {
        // Names need not be UTF-8.
        return Lines { path, text: String::from_utf8_lossy(&bytes).into_owned() }.stl();
    }
    let fault = |reason: String| Error::Format { path: path.to_owned(), line: 1, reason };
    let Some(head) = bytes.get(STL_HEAD - 4..STL_HEAD) else {
        let reason = format!("{} bytes, too few for a binary file, and the first word is not solid", bytes.len());
        return Err(fault(reason));
    };
    let announced = head.iter().rev().fold(0_usize, |sum, &byte| sum << 8 | usize::from(byte));
    let there = (bytes.len() - STL_HEAD) / STL_FACET;
    if announced != there {
        return Err(fault(format!("{announced} facets are announced, the file has bytes for {there}")));
    }
    let (mut surface, mut known) = (Surface::new(Source::StlBinary), Joined::default());
    for (facet_number, facet) in bytes[STL_HEAD..].chunks_exact(STL_FACET).enumerate() {
        // The normal, three corners, two bytes that mean nothing here.
        let number = |k: usize| f64::from(f32::from_le_bytes(std::array::from_fn(|byte| facet[12 + 4 * k + byte])));
        let corners = [0, 1, 2].map(|c| {
            let point = [number(3 * c), number(3 * c + 1), number(3 * c + 2)];
            known.index(point, (3 * facet_number + c) as u64, &mut surface)
        });
        surface.add_element(triangle(corners), facet_number as u64 + 1);
    }
    Ok(surface)
}

/// Points by their coordinates.
#[derive(Default)]
struct Joined(HashMap<[u64; 3], u32>);

impl Joined {
    /// The node at `point`, which is added under `number` where there is none.
    fn index(&mut self, point: Point, number: u64, surface: &mut Surface) -> u32 {
        // Adding zero turns -0 into 0.
        *self.0.entry(point.map(|v| (v + 0.0).to_bits())).or_insert_with(|| {
            surface.add_node(point, number);
            surface.nodes.len() as u32 - 1
        })
    }
}

/// Gmsh's numbers of kinds of elements.
const TRIANGLE: u32 = 2;
const QUADRANGLE: u32 = 3;
/// Triangles and quadrangles of higher order.
const CURVED: [u32; 8] = [9, 10, 16, 20, 21, 22, 23, 36];

/// Why an element of this type is refused.
fn curved(kind: u32) -> String {
    format!("elements of type {kind}, curved or of higher order; only those of the first order are read")
}

/// The node tags of a triangle, the last twice, or of a quadrangle.
fn corners(line: &mut Words<'_, '_>, kind: u32) -> Result<[u64; 4]> {
    let mut tag = || line.next::<u64>("node tag");
    let [a, b, c] = [tag()?, tag()?, tag()?];
    Ok([a, b, c, if kind == QUADRANGLE { tag()? } else { c }])
}

/// The words of a text file with their lines.
struct Lines<'p> {
    path: &'p Path,
    text: String,
}

/// One line of words.
struct Words<'p, 't> {
    path: &'p Path,
    line: usize,
    words: std::str::SplitWhitespace<'t>,
}

impl Words<'_, '_> {
    fn fault(&self, reason: impl Into<String>) -> Error {
        Error::Format { path: self.path.to_owned(), line: self.line, reason: reason.into() }
    }

    fn next<T: FromStr>(&mut self, what: &str) -> Result<T> {
        let word = self.words.next().ok_or_else(|| self.fault(format!("{what} is missing")))?;
        word.parse().map_err(|_| self.fault(format!("`{word}` is no {what}")))
    }

    fn point(&mut self) -> Result<Point> {
        let mut coordinate = || self.next::<f64>("coordinate");
        Ok([coordinate()?, coordinate()?, coordinate()?])
    }
}

impl<'p> Lines<'p> {
    fn of(path: &'p Path) -> Result<Lines<'p>> {
        let text = read_text(path).map_err(|source| match source.kind() {
            ErrorKind::InvalidData => Error::Format {
                path: path.to_owned(),
                line: 1,
                reason: "no text; only ASCII files of this format are read".into(),
            },
            _ => io(path, source),
        })?;
        Ok(Lines { path, text })
    }

    /// The lines that say something.
    fn words(&self) -> impl Iterator<Item = Words<'p, '_>> {
        let path = self.path;
        self.text.lines().enumerate().filter_map(move |(k, line)| {
            let line = line.split('#').next().unwrap_or_default();
            let some = !line.trim().is_empty();
            some.then(|| Words { path, line: k + 1, words: line.split_whitespace() })
        })
    }

    fn cut(&self) -> Error {
        Error::Format {
            path: self.path.to_owned(),
            line: self.text.lines().count().max(1),
            reason: "the file ends too early".into(),
        }
    }

    /// STL in text: facets of three vertices each, of one or several solids.
    fn stl(&self) -> Result<Surface> {
        let (mut surface, mut known) = (Surface::new(Source::StlText), Joined::default());
        let mut corners = Vec::new();
        for mut words in self.words() {
            let word = words.next::<String>("word")?;
            // Some programs write capitals.
            match word.to_ascii_lowercase().as_str() {
                "vertex" => corners.push(known.index(words.point()?, words.line as u64, &mut surface)),
                "endfacet" => {
                    let corners = std::mem::take(&mut corners);
                    let count = corners.len();
                    let corners = <[u32; 3]>::try_from(corners);
                    let corners = corners.map_err(|_| words.fault(format!("a facet of {count} vertices, not of 3")))?;
                    surface.add_element(triangle(corners), words.line as u64);
                }
                "solid" | "facet" | "outer" | "endloop" | "endsolid" => (),
                _ => return Err(words.fault(format!("`{word}` is no word of STL files"))),
            }
        }
        if corners.is_empty() { Ok(surface) } else { Err(self.cut()) }
    }

    /// Object File Format: `OFF`, the numbers of nodes, faces and edges, nodes, faces.
    fn off(&self) -> Result<Surface> {
        let mut lines = self.words();
        let mut head = lines.next().ok_or_else(|| self.cut())?;
        // Colours and normals stand behind the coordinates.
        if !["OFF", "COFF", "NOFF", "CNOFF"].contains(&head.next::<String>("keyword OFF")?.as_str()) {
            return Err(head.fault("the first word is not OFF"));
        }
        // The numbers may stand on the line of the keyword.
        if head.words.clone().next().is_none() {
            head = lines.next().ok_or_else(|| self.cut())?;
        }
        let (count, faces): (usize, usize) = (head.next("number of nodes")?, head.next("number of faces")?);
        let mut surface = Surface::new(Source::Off);
        for node in 0..count {
            surface.add_node(lines.next().ok_or_else(|| self.cut())?.point()?, node as u64);
        }
        for _ in 0..faces {
            let mut line = lines.next().ok_or_else(|| self.cut())?;
            let corners: usize = line.next("number of corners")?;
            if corners < 3 {
                return Err(line.fault(format!("a face of {corners} corners")));
            }
            let corners: Vec<u32> = (0..corners).map(|_| line.next("node index")).collect::<Result<_>>()?;
            if let Some(corner) = corners.iter().find(|&&corner| corner as usize >= count) {
                return Err(line.fault(format!("node {corner} of {count}, counted from 0, does not exist")));
            }
            surface.add_polygon(&corners, line.line as u64);
        }
        Ok(surface)
    }

    /// Gmsh's formats 2, 4 and 4.1 in ASCII: the sections `$Nodes` and `$Elements`.
    fn gmsh(&self) -> Result<Surface> {
        let mut lines = self.words();
        let mut surface = Surface::new(Source::Gmsh);
        let mut elements: Vec<(u64, [u64; 4])> = Vec::new();
        let mut index: HashMap<u64, u32> = HashMap::new();
        let mut place = 1;
        let (mut newer, mut version_2) = (true, false);
        while let Some(mut line) = lines.next() {
            place = line.line;
            let mut need = || lines.next().ok_or_else(|| self.cut());
            match line.next::<String>("section")?.as_str() {
                "$MeshFormat" => {
                    let mut format = need()?;
                    let (version, kind): (f64, u32) = (format.next("version")?, format.next("kind of file")?);
                    version_2 = (2.0..3.0).contains(&version);
                    if !(version_2 || (4.0..5.0).contains(&version)) || kind != 0 {
                        return Err(format.fault("only ASCII files of versions 2 and 4 are read"));
                    }
                    newer = version > 4.05;
                }
                "$Nodes" if version_2 => {
                    let count: usize = need()?.next("number of nodes")?;
                    for _ in 0..count {
                        let mut line = need()?;
                        let tag = line.next("node tag")?;
                        index.insert(tag, surface.nodes.len() as u32);
                        surface.add_node(line.point()?, tag);
                    }
                }
                "$Elements" if version_2 => {
                    let count: usize = need()?.next("number of elements")?;
                    for _ in 0..count {
                        let mut line = need()?;
                        let number = line.next("element number")?;
                        let kind: u32 = line.next("element type")?;
                        if CURVED.contains(&kind) {
                            return Err(line.fault(curved(kind)));
                        }
                        let tags: usize = line.next("number of tags")?;
                        for _ in 0..tags {
                            line.next::<i64>("tag")?;
                        }
                        if kind == TRIANGLE || kind == QUADRANGLE {
                            elements.push((number, corners(&mut line, kind)?));
                        }
                    }
                }
                "$Nodes" => {
                    let blocks: usize = need()?.next("number of blocks")?;
                    for _ in 0..blocks {
                        let mut head = need()?;
                        for _ in 0..3 {
                            head.next::<i64>("number")?;
                        }
                        let count: usize = head.next("number of nodes")?;
                        let mut tags: Vec<u64> = Vec::new();
                        if newer {
                            for _ in 0..count {
                                tags.push(need()?.next("node tag")?);
                            }
                        }
                        let mut tags = tags.into_iter();
                        for _ in 0..count {
                            let mut line = need()?;
                            let tag = match tags.next() {
                                Some(tag) => tag,
                                None => line.next("node tag")?,
                            };
                            index.insert(tag, surface.nodes.len() as u32);
                            surface.add_node(line.point()?, tag);
                        }
                    }
                }
                "$Elements" => {
                    let blocks: usize = need()?.next("number of blocks")?;
                    for _ in 0..blocks {
                        let mut head = need()?;
                        head.next::<i64>("number")?;
                        head.next::<i64>("number")?;
                        let (kind, count): (u32, usize) =
                            (head.next("element type")?, head.next("number of elements")?);
                        if CURVED.contains(&kind) {
                            return Err(head.fault(curved(kind)));
                        }
                        for _ in 0..count {
                            let mut line = need()?;
                            if kind == TRIANGLE || kind == QUADRANGLE {
                                let tag = line.next("element tag")?;
                                elements.push((tag, corners(&mut line, kind)?));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        for (number, tags) in elements {
            let mut element = [0; 4];
            for (corner, tag) in element.iter_mut().zip(tags) {
                *corner = *index.get(&tag).ok_or_else(|| Error::Format {
                    path: self.path.to_owned(),
                    line: place,
                    reason: format!("element {number} refers to node {tag}, which does not exist"),
                })?;
            }
            surface.add_element(element, number);
        }
        Ok(surface)
    }
}
