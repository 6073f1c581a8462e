//! The library's name for programs that were linked with it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libpeerlane_clrdma.so.1");
    // Callbacks of OpenCL's and of the board's library run in it for as long as the process.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
