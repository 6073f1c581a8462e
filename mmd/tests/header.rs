//! `peerlane_ext.h` has the library's functions, and a C compiler accepts it and the program of the guide.

use peerlane_mmd_core::{ERRORS, cl_bool, cl_int, cl_mem_flags, cl_uint, cl_ulong};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const HEADER: &str = include_str!("../include/peerlane_ext.h");
const CODE: &str = include_str!("../core/src/abi/export.rs");
const GUIDE: &str = include_str!("../../docs/program/opencl.md");

/// Arguments with their types, and the type of the result.
type Signature = (Vec<(String, String)>, String);

/// Splits a text at commas outside of parentheses.
fn arguments(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut depth = 0;
    for letter in text.chars() {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        match letter {
            ',' if depth == 0 => pieces.push(String::new()),
            letter => pieces.last_mut().unwrap().push(letter),
        }
    }
    let pieces = pieces.iter().map(|piece| {
        let words: Vec<&str> = piece.split_whitespace().collect();
        words.join(" ")
    });
    pieces.filter(|piece| !piece.is_empty()).collect()
}

/// Reads the functions of the library from the text that makes their symbols.
fn in_rust() -> BTreeMap<String, Signature> {
    let text = &CODE[CODE.find("$crate::symbols!").unwrap()..];
    let starts = text
        .match_indices("\n            cl")
        .map(|(at, _)| at + 13);
    let parse = |at| {
        let (name, rest) = text[at..].split_once('(').unwrap();
        let (inner, rest) = rest.split_once(") -> ").unwrap();
        let (result, _) = rest.split_once(" {").unwrap();
        let split = |argument: String| {
            let (name, kind) = argument.split_once(": ").unwrap();
            (name.to_owned(), kind.to_owned())
        };
        let arguments = arguments(inner).into_iter().map(split).collect();
        (
            name.to_owned(),
            (arguments, result.trim_end_matches('{').trim().to_owned()),
        )
    };
    starts.map(parse).collect()
}

/// Returns a type of C's in Rust.
fn kind(c: &str) -> String {
    match c {
        "int" => "c_int".into(),
        "size_t" => "usize".into(),
        "void *" => "*mut c_void".into(),
        "const char *" => "*const c_char".into(),
        other => match (other.strip_suffix(" *"), other.strip_prefix("const ")) {
            (Some(_), Some(constant)) => format!("*const {}", constant.trim_end_matches(" *")),
            (Some(pointee), None) => format!("*mut {pointee}"),
            _ => other.into(),
        },
    }
}

/// Reads the functions of the header.
fn in_c() -> BTreeMap<String, Signature> {
    let mut found = BTreeMap::new();
    for piece in HEADER.split("\ntypedef ").skip(1) {
        let Some((head, rest)) = piece.split_once("_t(") else {
            continue;
        };
        let (result, name) = head.split_once("CL_API_CALL ").unwrap();
        let (inner, _) = rest.split_once(");").unwrap();
        let split = |argument: String| {
            // The type of `heard` in C is that of `Notify`.
            if argument == "void (CL_CALLBACK *pfn_notify)(cl_int status, void *user_data)" {
                return ("pfn_notify".to_owned(), "Option<Notify>".to_owned());
            }
            if argument == "void *(CL_CALLBACK *pfn_find)(const char *name)" {
                return ("pfn_find".to_owned(), "Option<Find>".to_owned());
            }
            let at = argument.rfind([' ', '*']).unwrap() + 1;
            let (before, name) = argument.split_at(at);
            (name.to_owned(), kind(before.trim()))
        };
        let arguments = arguments(inner).into_iter().map(split).collect();
        let result = kind(result.trim());
        found.insert(name.to_owned(), (arguments, result));
    }
    found
}

#[test]
fn header_and_library_have_the_same_functions() {
    let (rust, c) = (in_rust(), in_c());
    assert_eq!(rust.len(), 11);
    assert_eq!(rust, c);
    for name in rust.keys() {
        for line in [
            format!("typedef {name}_t *{name}_fn;"),
            format!("extern {name}_t {name};"),
            format!(" * {name}: "),
        ] {
            assert!(HEADER.contains(&line), "{line}");
        }
    }
}

/// Compiles C or C++; returns the compiler's error if it does not accept it.
fn compile(compiler: &str, name: &str, text: &str, flags: &[&str]) -> Result<(), String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&place, text).unwrap();
    let output = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"])
        .args(flags)
        .arg("-I")
        .arg(here.join("include"))
        .arg("-I")
        .arg(here.join("tests"))
        .arg(&place)
        .output()
        .map_err(|error| format!("{compiler}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn c_compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".into())
}

#[test]
fn a_compiler_takes_the_header_and_finds_the_same_numbers() {
    let mut text = String::from("#include \"peerlane_ext.h\"\n");
    for error in ERRORS {
        let (name, value) = (error.name, error.value);
        writeln!(text, "_Static_assert({name} == ({value}), \"{name}\");").unwrap();
    }
    let sizes = [
        ("cl_int", size_of::<cl_int>()),
        ("cl_uint", size_of::<cl_uint>()),
        ("cl_bool", size_of::<cl_bool>()),
        ("cl_ulong", size_of::<cl_ulong>()),
        ("cl_mem_flags", size_of::<cl_mem_flags>()),
        ("cl_peer_memory_peerlane", size_of::<*mut u8>()),
    ];
    for (name, size) in sizes {
        writeln!(
            text,
            "_Static_assert(sizeof({name}) == {size}, \"{name}\");"
        )
        .unwrap();
    }
    for name in in_c().keys() {
        writeln!(
            text,
            "extern {name}_fn use_{name};\n{name}_fn use_{name} = {name};"
        )
        .unwrap();
    }
    let prototypes = "-DPEERLANE_EXT_PROTOTYPES";
    compile(&c_compiler(), "header.c", &text, &["-std=c11", prototypes]).unwrap();
    let old = "#include \"peerlane_ext.h\"\nint main(void) { return 0; }\n";
    compile(&c_compiler(), "old.c", old, &["-std=c99"]).unwrap();
    let cxx = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    compile(&cxx, "header.cpp", old, &["-std=c++11", prototypes]).unwrap();
    // All errors of the extension's own are in the header.
    let defined = HEADER.matches("\n#define CL_").count();
    let ours = ERRORS.iter().filter(|error| error.value < -9999).count();
    // `CL_API_CALL` and `CL_CALLBACK` are two more definitions.
    assert_eq!(defined, ours + 2);
}

/// Returns the guide's program.
fn program() -> &'static str {
    let (_, rest) = GUIDE.split_once("```c\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_program_in_the_guide_compiles() {
    let program = program();
    compile(&c_compiler(), "readme.c", program, &["-std=c99"]).unwrap();
    let cxx = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    compile(&cxx, "readme.cpp", program, &["-std=c++11"]).unwrap();
    // OpenCL's headers of 3.0 print a remark for a program that does not name its version.
    assert!(program.contains("#define CL_TARGET_OPENCL_VERSION 120\n#include"));
    let devices = include_str!("../devices.c");
    compile(&c_compiler(), "smallest.c", devices, &["-std=c99"]).unwrap();
}

/// A copy that fails must not look like one that has succeeded, with a runtime whose wait does not report errors.
#[test]
fn the_program_in_the_guide_tells_of_events_that_failed() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = |name: &str| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let (source, made) = (place("send.c"), place("send"));
    std::fs::write(&source, program()).unwrap();
    let status = Command::new(c_compiler())
        .args(["-std=c99", "-Wall", "-Werror", "-o"])
        .arg(&made)
        .args([&source, &here.join("tests/standin.c")])
        .args(["include", "tests"].map(|name| format!("-I{}", here.join(name).display())))
        .status();
    assert!(status.unwrap().success());
    let run = |variable: Option<(&str, &str)>| {
        let output = Command::new(&made)
            .env_remove("STANDIN_WRITE")
            .env_remove("STANDIN_COPY")
            .envs(variable)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    assert_eq!(run(None), (Some(0), String::new()));
    let (status, said) = run(Some(("STANDIN_COPY", "-10005")));
    assert_eq!(status, Some(1), "{said}");
    let words = "the copy's end: -10005: the library's text of it";
    assert!(said.contains(words), "{said}");
    let (status, said) = run(Some(("STANDIN_WRITE", "-5")));
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("the write's end: -5"), "{said}");
}
