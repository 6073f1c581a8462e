//! How the library is linked, and the commit that it says it is of.

#[path = "../cli/demo/build.rs"]
mod commit;

fn main() {
    // Its threads run in it as long as the process.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    commit::main();
}
