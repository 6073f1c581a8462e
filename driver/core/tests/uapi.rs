// SPDX-License-Identifier: MIT OR Apache-2.0
//! `driver/uapi/peerlane.h`, compiled: every constant, request code, `sizeof` and `offsetof`
//! against `uapi`.

use peerlane_core::uapi::{
    self, access, access_flags, allocate, area, arm, feature, free, map, opencl, packing, provider,
    register, reprogram, state, stream, stream_state, submit, unregister, window,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;

type Expected = BTreeMap<String, u64>;

fn header() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../uapi/peerlane.h")
}

fn member(all: &mut Expected, name: &str, member: &str, offset: usize, size: usize) {
    all.insert(format!("offsetof(struct {name}, {member})"), offset as u64);
    all.insert(
        format!("sizeof(((struct {name} *)0)->{member})"),
        size as u64,
    );
}

/// Size of a structure, and place and size of every member. A member that is not listed does not compile.
macro_rules! layout {
    ($all:ident, $name:literal, $type:ident { $($member:ident),* $(,)? }) => {
        let uapi::$type { $($member),* } = uapi::$type::default();
        $all.insert(concat!("sizeof(struct ", $name, ")").into(), size_of::<uapi::$type>() as u64);
        $(member(
            &mut $all,
            $name,
            stringify!($member),
            offset_of!(uapi::$type, $member),
            size_of_val(&$member),
        );)*
    };
}

/// Expressions in C, and their expected values.
fn expected() -> Expected {
    let mut all: Expected = [
        ("VERSION", uapi::VERSION.into()),
        ("OLDEST", uapi::OLDEST.into()),
        ("NEVER", uapi::NEVER as u64),
        ("IOC_TYPE", uapi::IOC_TYPE.into()),
        ("FEATURE_HOST", feature::HOST),
        ("FEATURE_DMABUF", feature::DMABUF),
        ("FEATURE_NVIDIA", feature::NVIDIA),
        ("FEATURE_SUBMIT", feature::SUBMIT),
        ("FEATURE_PAGE", feature::PAGE),
        ("FEATURE_PROBE", feature::PROBE),
        ("FEATURE_ALLOCATE", feature::ALLOCATE),
        ("FEATURE_RESETS", feature::RESETS),
        ("FEATURE_FLUSH", feature::FLUSH),
        ("FEATURE_WINDOW", feature::WINDOW),
        ("FEATURE_MSIX", feature::MSIX),
        ("FEATURE_TAGGED_READS", feature::TAGGED_READS),
        ("FEATURE_OPENCL", feature::OPENCL),
        ("FEATURE_CVP", feature::CVP),
        ("FEATURE_PROVED_PEERS", feature::PROVED_PEERS),
        ("FEATURE_STREAMS", feature::STREAMS),
        ("FEATURE_PEEK", feature::PEEK),
        ("FEATURE_MIXED", feature::MIXED),
        ("QUERY_PEEK", uapi::query::PEEK),
        ("REGISTER_PROVED_ONLY", register::PROVED_ONLY.into()),
        ("REGISTER_MIXED", register::MIXED.into()),
        ("MAP_PAGE", map::PAGE),
        ("MAP_RING", map::RING),
        ("MAP_WINDOW", map::WINDOW),
        ("MAP_KERNELS", map::KERNELS),
        ("PROVIDER_HOST", provider::HOST.into()),
        ("PROVIDER_DMABUF", provider::DMABUF.into()),
        ("PROVIDER_NVIDIA", provider::NVIDIA.into()),
        ("ACCESS_READ", access::READ.into()),
        ("ACCESS_WRITE", access::WRITE.into()),
        ("UNREGISTER_KEEP", unregister::KEEP.into()),
        ("SUBMIT_NO_FLUSH", submit::NO_FLUSH.into()),
        ("SUBMIT_AFTER_WRITE", submit::AFTER_WRITE.into()),
        ("SUBMIT_AFTER_READ", submit::AFTER_READ.into()),
        ("STATE_GONE", state::GONE.into()),
        ("WINDOW_RELEASE", window::RELEASE.into()),
        ("PROBE_BYTES", uapi::PROBE_BYTES as u64),
        ("RING_EMPTY", uapi::RING_EMPTY.into()),
        ("IOC_INFO", uapi::INFO.code().into()),
        ("IOC_REGISTER", uapi::REGISTER.code().into()),
        ("IOC_UNREGISTER", uapi::UNREGISTER.code().into()),
        ("IOC_SUBMIT", uapi::SUBMIT.code().into()),
        ("IOC_WAIT", uapi::WAIT.code().into()),
        ("IOC_QUERY", uapi::QUERY.code().into()),
        ("IOC_EVENTFD", uapi::EVENTFD.code().into()),
        ("IOC_STOP", uapi::STOP.code().into()),
        ("IOC_PROBE", uapi::PROBE.code().into()),
        ("IOC_MODERATE", uapi::MODERATE.code().into()),
        ("IOC_ALLOCATE", uapi::ALLOCATE.code().into()),
        ("IOC_FREE", uapi::FREE.code().into()),
        ("ALLOCATE_ALL", allocate::ALL.into()),
        ("ALLOCATE_TAKE_OVER", allocate::TAKE_OVER.into()),
        ("FREE_OFFER", free::OFFER.into()),
        ("IOC_WINDOW", uapi::WINDOW.code().into()),
        ("IOC_OPENCL", uapi::OPENCL.code().into()),
        ("IOC_ACCESS", uapi::ACCESS.code().into()),
        ("IOC_ARM", uapi::ARM.code().into()),
        ("IOC_REPROGRAM", uapi::REPROGRAM.code().into()),
        ("IOC_CONFIGURE", uapi::CONFIGURE.code().into()),
        ("IOC_FLUSH", uapi::FLUSH.code().into()),
        ("IOC_STREAM", uapi::STREAM.code().into()),
        ("STREAM_TO_LOGIC", stream::TO_LOGIC.into()),
        ("STREAM_OPEN", stream::OPEN.into()),
        ("STREAM_CLOSE", stream::CLOSE.into()),
        ("STREAM_STATE_OPEN", stream_state::OPEN.into()),
        ("AREA_KERNELS", area::KERNELS.into()),
        ("AREA_CLOCK", area::CLOCK.into()),
        ("AREA_VERSION", area::VERSION.into()),
        ("AREA_TEMPERATURE", area::TEMPERATURE.into()),
        ("AREA_STATUS", area::STATUS.into()),
        ("OPENCL_RELEASE", opencl::RELEASE.into()),
        ("ACCESS_BYTES", uapi::ACCESS_BYTES as u64),
        ("ACCESS_FLAGS_WRITE", access_flags::WRITE.into()),
        ("ARM_DISARM", arm::DISARM.into()),
        ("REPROGRAM_BEGIN", reprogram::BEGIN.into()),
        ("REPROGRAM_END", reprogram::END.into()),
        ("REPROGRAM_LINK_OFF", reprogram::LINK_OFF.into()),
        ("CONFIGURE_BYTES", uapi::CONFIGURE_BYTES),
        ("PACKING_AS_TOLD", packing::AS_TOLD.into()),
        ("PACKING_PLAIN", packing::PLAIN.into()),
        ("PACKING_ENCRYPTED", packing::ENCRYPTED.into()),
        ("PACKING_COMPRESSED", packing::COMPRESSED.into()),
    ]
    .into_iter()
    .map(|(name, value)| (format!("PEERLANE_{name}"), value))
    .collect();

    layout!(
        all,
        "peerlane_info",
        Info {
            version,
            oldest,
            features,
            required,
            map_id,
            build_id,
            caps,
            channel,
            ring_log2,
            generation,
            local_base,
            local_end,
            page_bytes,
            ring_bytes,
            window_bytes,
            resets,
            most_entries,
            caps3,
            reserved0,
            reserved,
        }
    );
    layout!(
        all,
        "peerlane_register",
        Register {
            provider,
            access,
            address,
            length,
            identity,
            fd,
            flags,
            handle,
            page_shift,
            att_address,
            entries,
            found,
            proof,
            second_length,
            second_att_address,
            third_length,
            third_att_address,
        }
    );
    layout!(all, "peerlane_unregister", Unregister { handle, flags });
    layout!(all, "peerlane_flush", Flush { handle, reserved });
    layout!(
        all,
        "peerlane_submit",
        Submit {
            direction,
            flags,
            handle,
            length,
            offset,
            local,
            cookie,
            reserved,
        }
    );
    layout!(
        all,
        "peerlane_wait",
        Wait {
            direction,
            cookie,
            deadline_ns,
            status,
            bytes_done,
            fault_address,
            reserved,
        }
    );
    layout!(
        all,
        "peerlane_query",
        Query {
            events,
            generation,
            state,
            outstanding,
            regions,
            region_bytes,
            revoked,
            resets,
            doubts,
            flags,
        }
    );
    layout!(all, "peerlane_eventfd", EventFd { fd, flags });
    layout!(
        all,
        "peerlane_stop",
        Stop {
            deadline_ns,
            aborted,
            reserved
        }
    );
    layout!(
        all,
        "peerlane_probe",
        Probe {
            handle,
            status,
            offset,
            local,
            data,
            reserved
        }
    );
    layout!(all, "peerlane_moderate", Moderate { count, age });
    layout!(
        all,
        "peerlane_stream",
        Stream {
            number,
            flags,
            limit,
            state,
            waiting,
            reserved,
        }
    );
    layout!(
        all,
        "peerlane_allocate",
        Allocate {
            bytes,
            base,
            flags,
            reserved,
            token
        }
    );
    layout!(
        all,
        "peerlane_free",
        Free {
            flags,
            reserved,
            token
        }
    );
    layout!(
        all,
        "peerlane_opencl",
        OpenCl {
            flags,
            fd,
            bytes,
            map_bytes,
            status_bytes,
            reserved
        }
    );
    layout!(
        all,
        "peerlane_access",
        Access {
            area,
            flags,
            offset,
            address,
            length,
            reserved
        }
    );
    layout!(all, "peerlane_arm", Arm { flags, reserved });
    layout!(all, "peerlane_reprogram", Reprogram { flags, reserved });
    layout!(
        all,
        "peerlane_configure",
        Configure {
            address,
            length,
            packing,
            reserved
        }
    );
    layout!(
        all,
        "peerlane_window",
        Window {
            base,
            flags,
            reserved
        }
    );
    all
}

/// Compiles a program that prints every expression, and compares.
fn check(compiler: &str, file: &str, flags: &[&str]) {
    let expected = expected();
    let dir = tempfile::tempdir().unwrap();
    let mut program = String::from(
        "#include \"peerlane.h\"\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n",
    );
    for expression in expected.keys() {
        let value = format!("(unsigned long long)({expression})");
        writeln!(program, "    printf(\"{expression}=%llu\\n\", {value});").unwrap();
    }
    program.push_str("    return 0;\n}\n");
    let source = dir.path().join(file);
    let binary = dir.path().join("print");
    std::fs::write(&source, program).unwrap();
    let compiled = Command::new(compiler)
        .args(flags)
        .args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-I"])
        .arg(header().parent().unwrap())
        .arg("-o")
        .args([&binary, &source])
        .output()
        .unwrap();
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let output = Command::new(&binary).output().unwrap();
    let there: Expected = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| line.rsplit_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect();
    for (name, value) in &expected {
        assert_eq!(there.get(name), Some(value), "{name}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test unit"]
fn as_c() {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    check(&compiler, "print.c", &["-std=c99"]);
}

fn c_compiler() -> Command {
    let mut compiler = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
    compiler
        .args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-I"])
        .arg(header().parent().unwrap());
    compiler
}

/// Whether a compiler accepts a program that includes this text for the header.
fn is_taken(text: &str, flags: &[&str]) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("header.c");
    std::fs::write(&source, text).unwrap();
    let mut compiler = c_compiler();
    let compiled = compiler
        .args(["-fsyntax-only", "-w"])
        .args(flags)
        .arg(&source);
    compiled.output().unwrap().status.success()
}

/// The header itself asserts that the layout is the one that it was written for, with 32 bits, too.
#[test]
#[ignore = "external tools: cargo xtask test unit"]
fn the_header_asserts_its_layout() {
    let text = std::fs::read_to_string(header()).unwrap();
    let machine = c_compiler().arg("-dumpmachine").output().unwrap().stdout;
    let machine = format!(
        "/usr/include/{}",
        String::from_utf8(machine).unwrap().trim()
    );
    // Debian's directory for machine-dependent headers.
    let flags = ["-std=c11", "-idirafter", &machine];
    for bits in ["-m64", "-m32"] {
        let flags: Vec<_> = flags.into_iter().chain([bits]).collect();
        assert!(is_taken(&text, &flags), "{bits}");
        for (from, to) in [
            ("\t__u32 oldest;", "\t__u64 oldest;"),
            ("\t__s64 deadline_ns;", "\t__s32 deadline_ns;"),
            ("\t__u32 cookie;\n", "\t__u32 cookie, another;\n"),
            ("\t__u32 bytes_done;", ""),
        ] {
            assert!(text.contains(from), "{from}");
            assert!(!is_taken(&text.replace(from, to), &flags), "{bits}: {to}");
        }
    }
}

/// The header is all that a program needs.
#[test]
#[ignore = "external tools: cargo xtask test unit"]
fn the_example_compiles() {
    let dir = tempfile::tempdir().unwrap();
    for standard in ["-std=c99", "-std=c11", "-std=gnu17"] {
        let mut compiler = c_compiler();
        let compiled = compiler
            .args([standard, "-O2", "-o"])
            .arg(dir.path().join("example"))
            .arg(header().with_file_name("example.c"))
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{standard}: {told}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test unit"]
fn as_cpp() {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    check(&compiler, "print.cpp", &["-std=c++11"]);
}

/// Definitions that the header has and `uapi` does not have would not be found above.
#[test]
fn the_header_has_nothing_more() {
    let text = std::fs::read_to_string(header()).unwrap();
    // The text after this belongs to the register map.
    let (text, _) = text.split_once("is of the register map").unwrap();
    let expected = expected();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("#define"), Some(name)) if name.starts_with("PEERLANE_") => {
                assert!(expected.contains_key(name), "{name}");
            }
            (Some("struct"), Some(name)) if line.ends_with('{') => {
                let size = format!("sizeof(struct {name})");
                assert!(expected.contains_key(&size), "{name}");
            }
            _ => {}
        }
    }
    let members = expected.keys().filter(|name| name.starts_with("offsetof"));
    let in_header = text.lines().filter(|line| line.starts_with("\t__"));
    assert_eq!(members.count(), in_header.count());
}

/// All request codes differ, and a different size does not change the ioctl of a code.
#[test]
fn requests_are_told_apart() {
    let codes: BTreeSet<u32> = uapi::ALL.iter().map(uapi::Ioctl::code).collect();
    assert_eq!(codes.len(), uapi::ALL.len());
    for ioctl in uapi::ALL {
        // _IOC: direction 31:30, size 29:16, type 15:8, number 7:0.
        let longer = ioctl.code() + (8 << 16);
        assert_eq!(uapi::size_of_code(longer), ioctl.size as usize + 8);
        let whose: Vec<_> = uapi::ALL.iter().filter(|one| one.is(longer)).collect();
        assert_eq!(whose, [&ioctl]);
        assert!(!ioctl.is(ioctl.code() ^ 1 << 8));
        assert!(!ioctl.is(ioctl.code() ^ 1 << 31));
    }
}

/// There is no hidden padding, and the layout is the same where 64-bit numbers are aligned to 4 bytes: the members
/// fill the structure, and members of 64 bits are at multiples of 8.
#[test]
fn structures_have_no_holes() {
    let all = expected();
    let sizes = all
        .iter()
        .filter_map(|(name, size)| Some((name.strip_prefix("sizeof(struct ")?, *size)));
    for (name, size) in sizes {
        let Some(name) = name.strip_suffix(')') else {
            continue;
        };
        let prefix = format!("offsetof(struct {name}, ");
        let mut bytes = 0;
        for (member, offset) in all.iter().filter(|(key, _)| key.starts_with(&prefix)) {
            let member = &member[prefix.len()..member.len() - 1];
            let width = all[&format!("sizeof(((struct {name} *)0)->{member})")];
            bytes += width;
            assert!(width % 8 != 0 || offset % 8 == 0, "{name}.{member}");
        }
        assert_eq!(bytes, size, "{name}");
        assert_eq!(size % 8, 0, "{name}");
    }
}

/// Tests the example's own reading of the ring, where each dword of a record becomes visible by itself.
#[test]
fn the_example_reads_whole_records() {
    let work = tempfile::tempdir().unwrap();
    let program = work.path().join("records");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let status = Command::new("cc")
        .args([
            "-std=gnu11",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pthread",
            "-I",
        ])
        .arg(header().parent().unwrap())
        .arg(here.join("tests/records.c"))
        .arg("-o")
        .arg(&program)
        .status();
    assert!(status.expect("the compiler runs").success());
    let output = Command::new(&program).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
