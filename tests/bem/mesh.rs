//! Surfaces: generators, checks, files.

use std::f64::consts::PI;
use std::fs;

use clinalg::Error;
use clinalg_bem::quadrature::Contact;
use clinalg_bem::surface::Field;
use clinalg_bem::{Mesh, Point};

#[test]
fn cubes_have_their_sizes_on_every_level() {
    for (mesh, triangles, nodes) in [(Mesh::cube12(), 12, 8), (Mesh::cube24(), 24, 14)] {
        let mut mesh = mesh;
        assert_eq!(mesh.nodes()[0], [1.0, -1.0, -1.0]);
        assert_eq!((mesh.triangles().len(), mesh.nodes().len()), (triangles, nodes));
        for level in 0..4 {
            let quality = mesh.quality();
            assert_eq!(quality.triangles, triangles << (2 * level));
            // Euler: V - E + F = 2 with E = 3 F / 2.
            assert_eq!(2 * quality.nodes, quality.triangles + 4);
            assert!((quality.area - 24.0).abs() < 1e-12 && (quality.volume - 8.0).abs() < 1e-12);
            assert!((quality.smallest_angle - 45.0).abs() < 1e-9 && (quality.largest_angle - 90.0).abs() < 1e-9);
            // 1 / (2 (sqrt 2 - 1)) for a right isosceles triangle.
            assert!((quality.worst_aspect - 0.5 * (1.0 + 2.0_f64.sqrt())).abs() < 1e-12);
            mesh = mesh.refined().unwrap();
        }
    }
}

#[test]
fn diagonals_of_the_coarse_cube_are_the_published_ones() {
    let mesh = Mesh::cube12();
    let diagonals: [[Point; 2]; 6] = [
        [[1.0, -1.0, -1.0], [1.0, 1.0, 1.0]],
        [[1.0, 1.0, -1.0], [-1.0, 1.0, 1.0]],
        [[-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]],
        [[-1.0, -1.0, -1.0], [1.0, -1.0, 1.0]],
        [[1.0, 1.0, -1.0], [-1.0, -1.0, -1.0]],
        [[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]],
    ];
    for ends in diagonals {
        let both = mesh.triangles().iter().filter(|t| {
            let corners = t.map(|v| mesh.nodes()[v as usize]);
            ends.iter().all(|end| corners.contains(end))
        });
        assert_eq!(both.count(), 2, "{ends:?}");
    }
}

#[test]
fn spheres_converge_with_the_second_order() {
    let defects: Vec<f64> = (0..5).map(|k| 4.0 * PI / 3.0 - Mesh::icosphere(k).unwrap().volume()).collect();
    assert_eq!(Mesh::icosphere(2).unwrap().triangles().len(), 320);
    for pair in defects.windows(2).skip(1) {
        let ratio = pair[0] / pair[1];
        assert!((3.7..4.1).contains(&ratio), "{ratio}");
    }
    let sphere = Mesh::icosphere(3).unwrap();
    for (k, normal) in sphere.normals().iter().enumerate() {
        let centre = sphere.point(k, [1.0 / 3.0; 3]);
        assert!(centre.iter().zip(normal).map(|(a, b)| a * b).sum::<f64>() > 0.98);
    }
}

#[test]
fn contacts_are_counted_and_ordered() {
    let mesh = Mesh::cube24().refined().unwrap();
    let around = mesh.triangles_around();
    let mut counts = [0; 3];
    for i in 0..mesh.triangles().len() {
        let touching = mesh.touching(i, &around);
        for j in 0..mesh.triangles().len() {
            let contact = mesh.contact(i, j);
            assert_eq!(contact.is_some(), touching.contains(&(j as u32)));
            let Some((contact, a, b)) = contact else { continue };
            counts[contact as usize] += 1;
            let common = match contact {
                Contact::Vertex => 1,
                Contact::Edge => 2,
                Contact::Coincident => 3,
            };
            for k in 0..3 {
                assert_eq!(mesh.triangles()[i][a[k]] == mesh.triangles()[j][b[k]], k < common);
            }
        }
    }
    // Three edges per triangle; the number of vertex contacts follows from the degrees d of the nodes.
    let pairs: usize = (0..mesh.nodes().len()).map(|v| around.of(v).len().pow(2)).sum();
    assert_eq!(counts, [pairs - 3 * 96 - 2 * 288, 288, 96]);
}

#[test]
fn curls_sum_to_zero_and_are_tangential() {
    let mesh = Mesh::icosphere(1).unwrap();
    for k in 0..mesh.triangles().len() {
        let curls = mesh.curls(k);
        for d in 0..3 {
            assert!(curls.iter().map(|c| c[d]).sum::<f64>().abs() < 1e-13);
        }
        for curl in curls {
            let along = (0..3).map(|d| curl[d] * mesh.normals()[k][d]).sum::<f64>();
            assert!(along.abs() < 1e-13);
        }
    }
}

fn refused(nodes: Vec<Point>, triangles: Vec<[u32; 3]>, words: &str) {
    let error = Mesh::new(nodes, triangles).unwrap_err();
    assert!(error.to_string().contains(words), "`{error}` does not say `{words}`");
}

#[test]
fn bad_surfaces_are_refused_with_a_message() {
    let cube = Mesh::cube12();
    let (nodes, triangles) = (cube.nodes().to_vec(), cube.triangles().to_vec());
    refused(nodes.clone(), Vec::new(), "at least four");
    refused(nodes.clone(), triangles[1..].to_vec(), "the surface is open at the edge between nodes");
    let with = |extra: [u32; 3]| triangles.iter().copied().chain([extra]).collect::<Vec<_>>();
    refused(nodes.clone(), with(triangles[3]), "each triangle once");
    refused(nodes.clone(), with([0, 1, 99]), "below 8");
    refused(nodes.clone(), with([0, 5, 6]), "3 triangles at the edge");
    let mut turned = triangles.clone();
    turned[2].swap(0, 1);
    refused(nodes.clone(), turned, "same orientation");
    let inverted = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    refused(nodes.clone(), inverted, "inward");
    let mut broken = nodes.clone();
    broken[3][1] = f64::NAN;
    refused(broken, triangles.clone(), "finite coordinates");
    let mut flat = nodes.clone();
    flat[1] = flat[0];
    refused(flat, triangles.clone(), "with an area");
    let mut spare = nodes.clone();
    spare.push([5.0; 3]);
    refused(spare, triangles.clone(), "every node");
    // Two cubes that share the corner 5 = (1, 1, 1) alone.
    let mut two = nodes.clone();
    two.extend(nodes.iter().map(|p| p.map(|v| v + 2.0)));
    let mut both = triangles.clone();
    both.extend(triangles.iter().map(|t| t.map(|v| if v == 3 { 5 } else { v + 8 })));
    let mut used: Vec<u32> = both.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let place = |v: u32| used.binary_search(&v).unwrap() as u32;
    let both: Vec<[u32; 3]> = both.iter().map(|t| t.map(place)).collect();
    let two: Vec<Point> = used.iter().map(|&v| two[v as usize]).collect();
    refused(two, both, "several parts");
}

#[test]
fn files_of_each_format_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let cube = Mesh::cube12();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let numbers = |p: &[f64]| p.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    let mut obj = String::from("# a cube\n");
    cube.nodes().iter().for_each(|p| obj += &format!("v {}\n", numbers(p)));
    cube.triangles().iter().for_each(|t| obj += &format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    // Quadrilaterals here, to be cut.
    let mut off = String::from("OFF\n8 6 0 # counts\n");
    cube.nodes().iter().for_each(|p| off += &format!("{}\n", numbers(p)));
    for pair in cube.triangles().chunks(2) {
        off += &format!("4 {} {} {} {}\n", pair[0][0], pair[0][1], pair[0][2], pair[1][2]);
    }
    let mut stl = String::from("solid cube\n");
    for t in cube.triangles() {
        stl += "facet normal 0 0 0\nouter loop\n";
        t.iter().for_each(|&v| stl += &format!("vertex {}\n", numbers(&cube.nodes()[v as usize])));
        stl += "endloop\nendfacet\n";
    }
    stl += "endsolid cube\n";
    let mut msh = String::from("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 9 1 9\n2 1 0 9\n");
    (0..9).for_each(|k| msh += &format!("{}\n", 10 * k + 1));
    // A node of no triangle comes first.
    msh += "7 7 7\n";
    cube.nodes().iter().for_each(|p| msh += &format!("{}\n", numbers(p)));
    msh += "$EndNodes\n$Elements\n2 13 1 13\n1 1 1 1\n1 11 21\n2 1 2 12\n";
    for (k, t) in cube.triangles().iter().enumerate() {
        let tag = |v: u32| 10 * (v + 1) + 1;
        msh += &format!("{} {} {} {}\n", k + 2, tag(t[0]), tag(t[1]), tag(t[2]));
    }
    msh += "$EndElements\n";
    // Format 2, with a point, a line and a node of no element.
    let mut old = String::from("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n9\n1 7 7 7\n");
    (0..8).for_each(|k| old += &format!("{} {}\n", 10 * k + 11, numbers(&cube.nodes()[k])));
    old += "$EndNodes\n$Elements\n14\n1 15 2 0 1 11\n2 1 2 0 1 11 21\n";
    for (k, t) in cube.triangles().iter().enumerate() {
        let tag = |v: u32| 10 * (v + 1) + 1;
        old += &format!("{} 2 2 -5 {k} {} {} {}\n", k + 3, tag(t[0]), tag(t[1]), tag(t[2]));
    }
    old += "$EndElements\n";
    // Lines that a backslash continues; one at the end of a comment does not.
    let continued = format!("# C:\\cube\\\n{}", obj.replace("\nf ", "\nf \\\r\n "));
    let fault = write("fault.obj", format!("{continued}f 1 2 \\\n 3x\nv 0 0 0\n"));
    let line = format!(":{}: ", continued.lines().count() + 1);
    let error = Mesh::read(&fault).unwrap_err().to_string();
    assert!(error.contains(&line), "{error}, expected {line}");
    let paths = [
        write("continued.obj", continued),
        write("c.obj", obj),
        write("c.off", off),
        write("c.stl", stl),
        write("c.msh", msh.clone()),
    ];
    let paths: Vec<_> = paths.into_iter().chain([write("old.msh", old.clone())]).collect();
    for path in &paths {
        let mesh = Mesh::read(path).unwrap();
        let sorted = |mesh: &Mesh| {
            let mut all: Vec<[Point; 3]> = (0..mesh.triangles().len())
                .map(|k| {
                    let mut corners = mesh.corners(k);
                    corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
                    corners
                })
                .collect();
            all.sort_by(|a, b| a.partial_cmp(b).unwrap());
            all
        };
        assert_eq!(sorted(&mesh), sorted(&cube), "{}", path.display());
    }
    let bad = [
        write("head.off", "OF\n".into()),
        write("cut.off", "OFF\n8 6 0\n1 1 1\n".into()),
        write("word.off", "OFF\n1 1 0\n1 one 1\n".into()),
        write("binary.msh", "$MeshFormat\n4.1 1 8\n".into()),
        write("tag.msh", msh.replace("\n3 11 ", "\n3 12 ")),
        write("cut.msh", old[..old.len() / 2].into()),
        write("kind.msh", old.replace("\n3 2 2 ", "\n3 9 2 ")),
        write("version.msh", old.replace("2.2 0 8", "1 0 8")),
    ];
    for path in &bad {
        let error = Mesh::read(path).unwrap_err();
        let known = matches!(&error, Error::Format { .. } | Error::Value { .. } | Error::Unsuitable { .. });
        assert!(known, "{}: {error}", path.display());
    }
    assert!(Mesh::read(&bad[2]).unwrap_err().to_string().contains(":3: `one`"));
    assert!(matches!(Mesh::read(folder.path().join("none.obj")), Err(Error::Io { .. })));
    assert!(Mesh::read("mesh.xyz").unwrap_err().to_string().contains(".obj"));
}

#[test]
fn vtk_files_hold_mesh_and_fields() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cube.vtu");
    let mesh = Mesh::cube12();
    let (flux, heat) = (vec![0.5; 12], vec![-1.25; 8]);
    mesh.write_vtk(&path, &[Field::Triangles("w", &flux), Field::Nodes("u", &heat)]).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    for words in ["NumberOfPoints=\"8\" NumberOfCells=\"12\"", "Name=\"w\"", "Name=\"u\"", "-1.25e0"] {
        assert!(text.contains(words), "{words}");
    }
    let error = mesh.write_vtk(&path, &[Field::Nodes("u", &flux)]).unwrap_err();
    assert_eq!(error.id(), "clinalg:argument:length");
}

#[test]
fn points_are_inside_or_outside() {
    for mesh in [Mesh::cube24().refined().unwrap(), Mesh::icosphere(2).unwrap()] {
        for point in [[0.0, 0.0, 0.0], [0.3, -0.4, 0.5], [0.0, 0.0, 0.98]] {
            assert!(mesh.contains(point), "{point:?}");
        }
        for point in [[0.0, 0.0, 1.01], [2.0, 0.0, 0.0], [-1.1, -1.1, 1.1], [0.0, 1e9, 0.0]] {
            assert!(!mesh.contains(point), "{point:?}");
            assert!(!mesh.touches(point), "{point:?}");
        }
        // Corners, middles of edges, triangles; a millionth beside them outside, of the triangles inside, too.
        for k in 0..mesh.triangles().len() {
            for at in [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1.0 / 3.0; 3]] {
                let (point, normal) = (mesh.point(k, at), mesh.normals()[k]);
                let beside = |by: f64| std::array::from_fn(|d| point[d] + by * normal[d]);
                assert!(mesh.touches(point) && !mesh.touches(beside(1e-6)), "{point:?}");
                assert!(at[0] > 0.4 || !mesh.touches(beside(-1e-6)), "{point:?}");
            }
        }
    }
}

/// Copies of the cube (-1, 1)^3: scaled, moved along x, turned inside out.
fn cubes(copies: &[(f64, f64, bool)]) -> clinalg::Result<Mesh> {
    let cube = Mesh::cube12();
    let (mut nodes, mut triangles) = (Vec::new(), Vec::new());
    for &(scale, along, turned) in copies {
        let first = nodes.len() as u32;
        nodes.extend(cube.nodes().iter().map(|p| [scale * p[0] + along, scale * p[1], scale * p[2]]));
        let order = |t: &[u32; 3]| if turned { [t[0], t[2], t[1]] } else { *t };
        triangles.extend(cube.triangles().iter().map(|t| order(t).map(|v| v + first)));
    }
    Mesh::new(nodes, triangles)
}

#[test]
fn each_part_has_its_body_on_the_right_side() {
    let volume = |copies: &[(f64, f64, bool)]| cubes(copies).unwrap().volume();
    // Two bodies; a hole; a body in the hole.
    assert!((volume(&[(1.0, 0.0, false), (0.5, 4.0, false)]) - 9.0).abs() < 1e-12);
    assert!((volume(&[(0.5, 0.1, true), (1.0, 0.0, false)]) - 7.0).abs() < 1e-12);
    assert!((volume(&[(1.0, 0.0, false), (0.5, 0.0, true), (0.25, 0.1, false)]) - 7.125).abs() < 1e-12);
    for (copies, words) in [
        (&[(1.0, 0.0, false), (0.5, 4.0, true)][..], "inward in the part of 12 triangles with triangle 13"),
        (&[(0.5, 0.1, false), (1.0, 0.0, false)], "out of a hole in the part of 12 triangles with triangle 1"),
        (&[(1.0, 0.0, false), (0.5, 0.0, true), (0.25, 0.1, true)], "with triangle 25"),
    ] {
        let error = cubes(copies).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// A tetrahedron.
const NODES: [[f32; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

fn binary_stl(header: &str, announced: u32) -> Vec<u8> {
    let mut bytes = header.as_bytes().to_vec();
    bytes.resize(80, 0);
    bytes.extend(announced.to_le_bytes());
    for face in FACES {
        bytes.extend([0; 12]);
        bytes.extend(face.iter().flat_map(|&v| NODES[v]).flat_map(f32::to_le_bytes));
        bytes.extend([0; 2]);
    }
    bytes
}

#[test]
fn damaged_files_say_what_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        Mesh::read(&path).map_err(|error| error.to_string())
    };
    let four = |mesh: Result<Mesh, String>| assert_eq!(mesh.unwrap().triangles().len(), 4);
    let says = |mesh: Result<Mesh, String>, words: &str| {
        let error = mesh.unwrap_err();
        assert!(error.contains(words), "`{error}` does not say `{words}`");
    };
    // Binary files may begin with the word of text files, and may lie about their size.
    four(read("b.stl", &binary_stl("", 4)));
    four(read("b.stl", &binary_stl("solid of a program", 4)));
    for announced in [3, 5, u32::MAX] {
        says(
            read("b.stl", &binary_stl("", announced)),
            &format!("{announced} facets are announced, the file has bytes for 4"),
        );
    }
    says(read("b.stl", &binary_stl("", 4)[..200]), "bytes for 2");
    says(read("b.stl", b""), "0 bytes, too few");
    let mut stl = String::from("SOLID A\n");
    for face in FACES {
        stl += "FACET NORMAL 0 0 0\nOUTER LOOP\n";
        face.iter().for_each(|&v| stl += &format!("VERTEX {:?}\n", NODES[v]).replace(['[', ']', ','], ""));
        stl += "ENDLOOP\nENDFACET\n";
    }
    stl += "ENDSOLID A\n";
    four(read("a.stl", stl.as_bytes()));
    says(read("a.stl", stl.replace("VERTEX 1.0", "VERTEX NAN").as_bytes()), "NaN");
    four(read("a.stl", stl.replace("SOLID A", "solid").as_bytes()));
    four(read("a.stl", format!("\r\n {}", stl.replace('\n', "\r\n")).as_bytes()));
    four(read("a.stl", &[b"solid \xe9t\xe9".as_slice(), &stl.as_bytes()[7..]].concat()));
    // A second solid in the same file.
    let apart = stl.replace("VERTEX 0.0", "VERTEX 5.0").replace("VERTEX 1.0", "VERTEX 6.0");
    assert_eq!(read("a.stl", format!("{stl}{apart}").as_bytes()).unwrap().triangles().len(), 8);
    says(read("a.stl", stl.replacen("VERTEX 1.0", "VERTEX one", 1).as_bytes()), "a.stl:6: `one` is no coordinate");
    says(read("a.stl", stl.replacen("VERTEX", "VORTEX", 1).as_bytes()), "a.stl:4: `VORTEX`");
    says(read("a.stl", stl.replacen("ENDLOOP", "VERTEX 9 9 9", 1).as_bytes()), "a.stl:8: a facet of 4 vertices");
    says(read("a.stl", stl.split("ENDLOOP").next().unwrap().as_bytes()), "ends too early");
    // Lines of OBJ files.
    let obj = "# four\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1//7 3//7 2//7\nf 1 2 4\nf -4 -1 -2\nf 2 3 4\n";
    four(read("a.obj", obj.replace("//7", "").as_bytes()));
    for (what, with, line) in [("f 1 2 4", "f 1 2 9", 7), ("v 1 0 0", "v 1 zero 0", 3), ("f 2 3 4", "f 0 3 4", 9)] {
        says(read("a.obj", obj.replace("//7", "").replace(what, with).as_bytes()), &format!("a.obj:{line}: "));
    }
    // Colours in OFF files, counts that cannot be.
    let off = "COFF\n4 4 6\n0 0 0 9 9 9\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1 255 0 0\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
    four(read("a.off", off.as_bytes()));
    says(read("a.off", off.replace("4 4 6", "18446744073709551615 4 6").as_bytes()), "ends too early");
    says(read("a.off", off.replace("3 0 1 3", "99999999999 0 1 3").as_bytes()), "a.off:8: ");
    // Quadrangles of Gmsh files, and triangles with curved sides.
    let msh = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 5 1 5\n2 1 0 5\n1\n2\n3\n4\n5\n-1 -1 0\n1 -1 0\n1 1 0\n-1 1 0\n\
               0 0 1\n$EndNodes\n$Elements\n2 5 1 5\n2 1 3 1\n1 1 4 3 2\n2 2 2 4\n2 1 2 5\n3 2 3 5\n4 3 4 5\n5 4 1 5\n$EndElements\n";
    assert_eq!(read("a.msh", msh.as_bytes()).unwrap().triangles().len(), 6);
    says(read("a.msh", msh.replace("2 2 2 4", "2 2 9 4").as_bytes()), "type 9");
    // A folder is no file.
    fs::create_dir(folder.path().join("d.obj")).unwrap();
    assert!(matches!(Mesh::read(folder.path().join("d.obj")), Err(Error::Io { .. })));
}

/// The cube (-1, 1)^3 in 12 triangles, as the files of `tests/data/surfaces` have it.
fn is_the_cube(mesh: &Mesh, what: &str) {
    let quality = mesh.quality();
    assert_eq!((quality.nodes, quality.triangles), (8, 12), "{what}");
    assert!((quality.area - 24.0).abs() < 1e-5 && (quality.volume - 8.0).abs() < 1e-5, "{what}: {quality:?}");
}

/// Exporters write corners that differ by a unit of single precision; some write facets without area and nodes of no face.
#[test]
fn surfaces_as_exporters_write_them_were_refused() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/surfaces");
    for name in ["cube.off", "near.stl", "sliver.stl", "unused.off"] {
        is_the_cube(&Mesh::read(folder.join(name)).unwrap(), name);
    }
}

/// OFF files with their own nodes for each face had open edges where OBJ and STL files with the same corners were read.
#[test]
fn nodes_for_each_corner_were_open_edges_in_off() {
    let folder = tempfile::tempdir().unwrap();
    let cube = Mesh::cube12();
    let corners: Vec<Point> = (0..12).flat_map(|k| cube.corners(k)).collect();
    let nodes = |prefix: &str| corners.iter().map(|[x, y, z]| format!("{prefix}{x} {y} {z}\n")).collect::<String>();
    let off: String = (0..12).map(|k| format!("3 {} {} {}\n", 3 * k, 3 * k + 1, 3 * k + 2)).collect();
    let obj: String = (0..12).map(|k| format!("f {} {} {}\n", 3 * k + 1, 3 * k + 2, 3 * k + 3)).collect();
    for (name, text) in
        [("c.off", format!("OFF\n36 12 0\n{}{off}", nodes(""))), ("c.obj", format!("{}{obj}", nodes("v ")))]
    {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        is_the_cube(&Mesh::read(&path).unwrap(), name);
    }
}

/// Nodes that are near each other on a closed surface are not one node, and what is apart by more than rounding stays open.
#[test]
fn only_rounding_on_open_edges_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.off");
    let write = |nodes: &[Point], triangles: &[[u32; 3]]| {
        let nodes: String = nodes.iter().map(|[x, y, z]| format!("{x:e} {y:e} {z:e}\n")).collect();
        let faces: String = triangles.iter().map(|[a, b, c]| format!("3 {a} {b} {c}\n")).collect();
        fs::write(&path, format!("OFF\n{} {} 0\n{nodes}{faces}", nodes.lines().count(), triangles.len())).unwrap();
        Mesh::read(&path)
    };
    let cube = Mesh::cube12();
    // A body of the size of the rounding at its distance from the origin.
    let far: Vec<Point> = cube.nodes().iter().map(|p| [1e8 + p[0], p[1], p[2]]).collect();
    let mesh = write(&far, cube.triangles()).unwrap();
    assert_eq!(mesh.nodes().len(), 8);
    let mut nodes = cube.nodes().to_vec();
    let mut triangles = cube.triangles().to_vec();
    let corner = nodes[triangles[0][0] as usize];
    nodes.push([corner[0], corner[1], corner[2] + 1e-4]);
    triangles[0][0] = 8;
    let message = write(&nodes, &triangles).unwrap_err().to_string();
    assert!(message.contains("open at the edge"), "{message}");
}

/// Messages counted the nodes of files in the order in which faces first use them.
#[test]
fn messages_name_nodes_and_faces_as_their_file_does() {
    let folder = tempfile::tempdir().unwrap();
    let says = |name: &str, bytes: &[u8], words: &str| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let error = Mesh::read(&path).unwrap_err().to_string();
        assert!(error.contains(words), "{name}: `{error}` does not say `{words}`");
    };
    // A tetrahedron without its second face; the first node is one of no face, the last face comes first.
    let point = |v: usize| format!("{:?}", NODES[v]).replace(['[', ']', ','], "");
    let faces = [FACES[3], FACES[0], FACES[2]];
    let list = |prefix: &str, first: usize| {
        faces
            .iter()
            .map(|f| format!("{prefix}{} {} {}\n", f[0] + first, f[1] + first, f[2] + first))
            .collect::<String>()
    };
    let nodes = |prefix: &str| (0..4).map(|v| format!("{prefix}{}\n", point(v))).collect::<String>();
    says(
        "a.off",
        format!("OFF\n\n5 3 0\n7 7 7\n{}{}", nodes(""), list("3 ", 1)).as_bytes(),
        "the edge between nodes 4 and 2 (counted from 0) of the face in line 9",
    );
    says("b.off", format!("OFF\n4 3 0\n{}{}", nodes(""), list("3 ", 1)).as_bytes(), "b.off:7: node 4 of 4");
    says(
        "a.obj",
        format!("# a\nv 7 7 7\n{}f 1 2\n{}", nodes("v "), list("f ", 2)).as_bytes(),
        "the edge between vertices 5 and 3 of the face in line 8",
    );
    let gmsh: String = (0..4).map(|v| format!("{} {}\n", 10 * v + 10, point(v))).collect();
    let elements: String = faces
        .iter()
        .enumerate()
        .map(|(k, f)| format!("{} 2 0 {} {} {}\n", 70 + k, 10 * f[0] + 10, 10 * f[1] + 10, 10 * f[2] + 10))
        .collect();
    let msh =
        format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n3 7 7 7\n{gmsh}$EndNodes\n$Elements\n3\n{elements}");
    says("a.msh", msh.as_bytes(), "the edge between nodes 40 and 20 of element 70");
    let facet = |f: &[usize; 3]| {
        let vertices: String = f.iter().map(|&v| format!("vertex {}\n", point(v))).collect();
        format!("facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet\n")
    };
    let stl: String = faces.iter().map(facet).collect();
    says(
        "a.stl",
        format!("solid a\n{stl}endsolid a\n").as_bytes(),
        "the edge between the vertices in lines 6 and 4 of the facet that ends in line 8",
    );
    let mut binary = binary_stl("", 3);
    binary.drain(84 + 50..84 + 100);
    says("b.stl", &binary, "the edge between corner 3 of facet 1 and corner 1 of facet 1 of facet 1");
    // Of a face of more than four corners, all triangles are that face.
    let cube = "OFF\n8 5 0\n-1 -1 -1\n1 -1 -1\n1 1 -1\n-1 1 -1\n-1 -1 1\n1 -1 1\n1 1 1\n-1 1 1\n\
                4 0 3 2 1\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n";
    says("c.off", cube.as_bytes(), "nodes 5 and 4 (counted from 0) of the face in line 12");
}

/// Messages counted nodes and triangles from 0 in some places and from 1 in others.
#[test]
fn messages_count_nodes_and_triangles_from_one() {
    let cube = Mesh::cube12();
    let (nodes, mut triangles) = (cube.nodes().to_vec(), cube.triangles().to_vec());
    let mut with_spare = nodes.clone();
    with_spare.push([5.0; 3]);
    refused(with_spare, triangles.clone(), "node 9 in none");
    let mut bent = nodes.clone();
    bent[2][1] = f64::NAN;
    refused(bent, triangles.clone(), "in node 3");
    triangles[4] = triangles[3];
    refused(nodes.clone(), triangles.clone(), "triangle 4 and triangle 5 with the same corners, nodes ");
    let [a, b, _] = triangles[3];
    triangles[4] = [a, b, b];
    refused(nodes, triangles, "triangle 5 without one");
}
