//! QEMU and kernels for real: they are fetched and built when the cache has none.

use std::{fs, path::Path};

use peerlane_tools::{Cache, Error, Flavour, Kernel, Lint, Series};

/// A module in C.
fn hello() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hello"))
}

fn kernel() -> Kernel {
    Cache::open().unwrap().kernel(Flavour::Debian).unwrap()
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn qemu_has_the_device_that_the_tests_need() {
    let qemu = Cache::open().unwrap().qemu().unwrap();
    let output = qemu.command().args(["-device", "help"]).output().unwrap();
    let devices = String::from_utf8(output.stdout).unwrap();
    for device in ["vfio-user-pci", "ivshmem-plain", "intel-iommu"] {
        assert!(devices.contains(&format!("\"{device}\"")), "{device}");
    }
    assert!(qemu.busybox().exists());
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_module_builds_without_a_warning_and_leaves_its_source_alone() {
    let kernel = kernel();
    let out = tempfile::tempdir().unwrap();
    let built = kernel.build(hello(), out.path(), Lint::Compiler).unwrap();
    assert_eq!(built.warnings, "");
    let names: Vec<_> = built.files.iter().map(|path| path.file_name()).collect();
    assert_eq!(names, [Some("hello.ko".as_ref())]);
    // The version that the kernel compares before it takes a module.
    let module = fs::read(&built.files[0]).unwrap();
    let magic = format!("vermagic={} ", kernel.release());
    assert!(
        module
            .windows(magic.len())
            .any(|bytes| bytes == magic.as_bytes())
    );
    let mut source: Vec<_> = fs::read_dir(hello())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    source.sort();
    assert_eq!(source, ["Kbuild", "hello.c"]);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn what_the_compilers_say_reaches_the_caller() {
    let kernel = kernel();
    let work = tempfile::tempdir().unwrap();
    let source = work.path().join("source");
    fs::create_dir(&source).unwrap();
    fs::copy(hello().join("Kbuild"), source.join("Kbuild")).unwrap();
    let text = fs::read_to_string(hello().join("hello.c")).unwrap();
    let build = |name: &str, addition: &str| {
        fs::write(source.join("hello.c"), format!("{text}{addition}")).unwrap();
        kernel.build(&source, &work.path().join(name), Lint::Compiler)
    };

    let unused = build("unused", "static int unused(void) { return 1; }\n").unwrap();
    assert!(
        unused.warnings.contains("defined but not used"),
        "{}",
        unused.warnings
    );
    match build(
        "wrong",
        "int wrong(void);\nint wrong(void) { return none; }\n",
    ) {
        Err(Error::Module { output, .. }) => assert!(output.contains("undeclared"), "{output}"),
        other => panic!("{other:?}"),
    }
}

#[test]
#[ignore = "external tools: cargo xtask test vfio-variants"]
fn shipped_kernels_have_their_signed_modules() {
    let cache = Cache::open().unwrap();
    for series in Series::ALL {
        let kernel = cache.shipped_kernel(series).unwrap();
        let release = kernel.release();
        assert!(release.starts_with(&format!("{}.", series.number())));
        assert!(kernel.vmlinuz().exists());
        assert!(kernel.modules().last().unwrap().ends_with("vfio_pci.ko"));
        for module in kernel.modules() {
            let module = fs::read(module).unwrap();
            let text = String::from_utf8_lossy(&module);
            assert!(text.contains(&format!("vermagic={release} ")));
            // The kernel's `module_signature.c` looks for this text at the end.
            assert!(text.ends_with("~Module signature appended~\n"));
        }
    }
}
