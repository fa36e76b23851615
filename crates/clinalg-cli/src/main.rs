//! stub
fn main() {
    println!("stub")
}
