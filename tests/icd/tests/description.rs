//! The description that the driver is generated from, compared with Khronos's headers in C: the place
//! of each function in the dispatch table, and each type.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use peerlane_icd_tests::Lab;

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn the_dispatch_table_is_that_of_the_headers() {
    let lab = Lab::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("generated/check_api.c");
    let text = std::fs::read_to_string(source).unwrap();
    let compiles = |text: &str| {
        let file = lab.path("check.c");
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        catch_unwind(AssertUnwindSafe(|| {
            lab.compile("check.o", &[file], &["-c"])
        }))
        .is_ok()
    };
    assert!(compiles(&text));
    // Another place, and another type.
    for (from, to) in [
        (
            "offsetof(cl_icd_dispatch, clFlush)",
            "8 + offsetof(cl_icd_dispatch, clFlush)",
        ),
        ("(*f)(cl_command_queue)", "(*f)(cl_mem)"),
    ] {
        let other = text.replacen(from, to, 1);
        assert_ne!(other, text);
        assert!(!compiles(&other), "{to}");
    }
}
