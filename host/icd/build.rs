//! How the library is linked.

fn main() {
    // A loader may close a driver that shows no platform; callbacks and threads need their code.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Where the library starts when it is run as a program, to try the vendor library.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-e,peerlane_icd_probe");
    println!("cargo:rerun-if-changed=build.rs");
}
