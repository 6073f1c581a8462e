//! The library's name for programs that were linked with it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libpeerlane_clrdma.so.1");
    // Callbacks of OpenCL and of the board's library run in this library for as long as the process lives.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
