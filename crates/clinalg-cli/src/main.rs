//! stub
fn main() { println!("{:?}", clinalg::probe()); }
