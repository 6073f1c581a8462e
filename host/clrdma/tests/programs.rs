//! Programs in C with the library. Board and GPU are the simulated ones; OpenCL and CUDA's driver are mocks.

mod standin;

use standin::{Lab, beside};
use std::collections::BTreeSet;

const HEADER: &str = include_str!("../include/clrdma.h");

/// Returns the functions that the header declares.
fn declared() -> BTreeSet<String> {
    let lines = HEADER
        .lines()
        .filter(|line| line.starts_with("int ") || line.starts_with("const char *"));
    let name = |line: &str| {
        let before = line.split_once('(').unwrap().0;
        before.rsplit([' ', '*']).next().unwrap().to_owned()
    };
    lines.map(name).collect()
}

#[test]
fn the_library_has_what_the_header_declares() {
    let declared = declared();
    // The thesis, appendix A and section 5.5; the other direction; the errors' text.
    let expected = [
        "clrdma_init_altera",
        "clrdma_init_nvidia",
        "clrdma_create_pinnable_buffer_nvidia",
        "clrdma_get_buffer_address_altera",
        "clrdma_get_buffer_address_nvidia",
        "read_rdma",
        "write_rdma",
        "clrdma_error_text",
    ];
    assert_eq!(declared, expected.map(str::to_owned).into());
    // SAFETY: nothing runs when it is loaded.
    let library = unsafe { libloading::Library::new(beside("libpeerlane_clrdma.so")) }.unwrap();
    for name in &declared {
        // SAFETY: the symbol is not used.
        let found = unsafe { library.get::<*const ()>(name.as_bytes()) };
        assert!(found.is_ok(), "{name}");
    }
}

/// A panic that leaves a function of C ends the program. So the whole body of a function runs in `run`, which turns a
/// panic into an error.
#[test]
fn no_panic_leaves_a_function() {
    let source = concat!(
        include_str!("../src/lib.rs"),
        include_str!("../src/error.rs")
    );
    let mut functions = BTreeSet::new();
    for text in source.split("#[unsafe(no_mangle)]").skip(1) {
        let end = text.find("\n}\n").unwrap();
        let (head, body) = text[..end].split_once(" {\n").unwrap();
        let name = head.split("fn ").nth(1).unwrap().split('(').next().unwrap();
        let mut lines = body.lines().map(str::trim_start);
        let other = |line: &&str| !line.starts_with("//") && !line.starts_with("let direction = ");
        let guarded = lines.find(other).unwrap();
        let harmless = name == "clrdma_error_text";
        assert!(guarded.starts_with("run(") || harmless, "{name}: {guarded}");
        functions.insert(name.to_owned());
    }
    assert_eq!(functions, declared());
}

#[test]
fn header_and_library_have_the_same_numbers() {
    let numbers = [
        ("OK", peerlane_clrdma::CLRDMA_OK),
        ("NO_DRIVER", peerlane_clrdma::CLRDMA_NO_DRIVER),
        ("WRONG_DRIVER", peerlane_clrdma::CLRDMA_WRONG_DRIVER),
        ("FAILED", peerlane_clrdma::CLRDMA_FAILED),
        ("NO_KERNEL", peerlane_clrdma::CLRDMA_NO_KERNEL),
        ("TIMEOUT", peerlane_clrdma::CLRDMA_TIMEOUT),
        ("INVALID", peerlane_clrdma::CLRDMA_INVALID),
        ("NOT_INITIALIZED", peerlane_clrdma::CLRDMA_NOT_INITIALIZED),
    ];
    for (name, number) in numbers {
        let line = format!("#define CLRDMA_{name} {number}\n");
        assert!(HEADER.contains(&line), "{line}");
    }
    assert_eq!(HEADER.matches("#define CLRDMA_").count(), numbers.len() + 1);
}

/// Errors for a program that has no board, no GPU, or passes wrong arguments.
#[test]
fn a_program_without_board_and_gpu_is_told() {
    let lab = Lab::new();
    for flags in [["-std=c99", "-xc"], ["-std=c++11", "-xc++"]] {
        let program = lab.program("tests/refused.c", &flags);
        assert_eq!(lab.passes(&program, &["none"], &[]), "");
    }
    let program = lab.program("tests/refused.c", &["-std=c17"]);
    // The kernel's driver is missing, and a driver that is too old.
    lab.passes(&program, &["gpu", "1"], &[("STANDIN_NO_GPU", "1")]);
    lab.passes(&program, &["gpu", "2"], &[("STANDIN_OLD_CUDA", "1")]);
}

/// Copies that take longer than they may, and accesses that a platform does not pass.
#[test]
fn time_is_kept_to_and_a_platform_may_pass_writes_only() {
    let lab = Lab::new();
    let library = lab.board_library();
    let program = lab.program("tests/late.c", &["-std=c99", "-pthread"]);
    let library = [("STANDIN_MMD", library.to_str().unwrap())];
    for part in [
        "turn",
        "lane",
        "room",
        "commands",
        "behind",
        "stopped",
        "writes_only",
        "refused",
        "refused_once",
    ] {
        lab.passes(&program, &[part], &library);
    }
}

/// The listing of a document that names memory of a GPU to OpenCL.
#[test]
fn the_listing_of_a_direct_buffer_compiles() {
    let document = include_str!("../../../docs/cl_peerlane_copy_buffer.md");
    let mut listings = document.split("```c\n").skip(1);
    let listing = listings.find(|text| text.starts_with("#include <clrdma.h>"));
    let listing = listing.unwrap().split("```").next().unwrap();
    for (compiler, flags) in [("cc", "-std=c99"), ("c++", "-std=c++11")] {
        Lab::new().checks(compiler, flags, listing);
    }
}

/// `examples/02-appendix-a`, unchanged.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_program_of_appendix_a_runs() {
    let lab = Lab::new();
    let source = "../../examples/02-appendix-a/appendix_a.c";
    let program = lab.program(source, &["-std=c99", "-Wpedantic"]);
    // More than a page of the GPU, and not a multiple of anything.
    let said = lab.passes(&program, &["300001"], &[]);
    let moved = "300001 bytes from the FPGA to the GPU, and 300001 bytes back\n";
    assert!(said.contains(moved), "{said}");
    // The memory was freed with the buffer.
    assert!(said.contains("GPU memory freed\n"), "{said}");
    // Another platform comes first that has FPGA in its name.
    let said = lab.passes(&program, &["5000"], &[("STANDIN_EMULATOR", "1")]);
    assert!(said.contains("5000 bytes back\n"), "{said}");
    // A runtime of the thesis's time does not find functions of the board's library.
    let said = lab.passes(&program, &["5000"], &[("STANDIN_OLD", "1")]);
    assert!(said.contains("5000 bytes back\n"), "{said}");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn transfers_of_all_places_and_what_is_refused() {
    let lab = Lab::new();
    let program = lab.program("tests/refused.c", &["-std=c99"]);
    lab.passes(&program, &["board"], &[]);
}
