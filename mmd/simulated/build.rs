//! How the library is linked.

fn main() {
    // Its threads run in it as long as the process.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
