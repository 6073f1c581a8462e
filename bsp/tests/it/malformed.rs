//! Malformed BSPs: each is refused with the place and a hint, or extended correctly; in ten seconds, without a panic,
//! and without leftover files.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::common::{
    Work, bad, edit, extend_to, extend_unproved, found_by_the_model, inherits, one_paragraph,
    snapshot,
};
use peerlane_bsp::check;
use peerlane_bsp::config::{Config, PortKind};
use peerlane_bsp::error::Error;
use peerlane_bsp::layout::Layout;

const SYSTEM: &str = "acl_iface_system.qsys";

/// Expected outcome for an input.
enum Want {
    /// An error; the first word is in its place, the second in its text.
    Error(&'static str, &'static str),
    /// A correct copy.
    Sound,
    /// A copy of a system that Platform Designer refuses, and it refuses the copy, too; the word is in the message of
    /// the second model.
    Inherited(&'static str),
    /// Any of these.
    Any,
}
use Want::{Any, Error as Refused, Inherited, Sound};

/// An input, and the way to corrupt it.
struct Case {
    name: &'static str,
    config: &'static str,
    spoil: Box<dyn Fn(&Work) + Send>,
    want: Want,
}

fn case(name: &'static str, want: Want, spoil: impl Fn(&Work) + Send + 'static) -> Case {
    Case {
        name,
        config: "",
        spoil: Box::new(spoil),
        want,
    }
}

/// Makes a case with other content of a file.
fn content(
    name: &'static str,
    want: Want,
    file: &'static str,
    content: impl Into<Vec<u8>>,
) -> Case {
    let content = content.into();
    case(name, want, move |w| {
        fs::write(w.input(file), &content).unwrap()
    })
}

/// Makes a case with a replaced text.
fn change(
    name: &'static str,
    want: Want,
    file: &'static str,
    from: &'static str,
    to: impl Into<String>,
) -> Case {
    let to = to.into();
    case(name, want, move |w| w.edit(file, from, &to))
}

/// Makes a case with text before the connections of the system.
fn more(name: &'static str, want: Want, text: impl Into<String>) -> Case {
    let text = text.into();
    case(name, want, move |w| {
        w.edit(SYSTEM, " <connection", &format!("{text}\n <connection"));
    })
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Extends, and checks the outcome. The test fails if this takes more than ten seconds.
fn outcome(case: &Case) -> Result<(), Error> {
    let work = Work::new();
    (case.spoil)(&work);
    let config = Config::parse(Path::new("c.toml"), case.config);
    let before = snapshot_of_files(&work);
    let result = config.and_then(|mut config| {
        config.port.kind.get_or_insert(PortKind::Txs);
        extend_unproved(&work.bsp, &work.out, config, None)
    });
    let left: Vec<_> = fs::read_dir(work.dir.path().join("work"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    match &result {
        Ok(_) => {
            assert_eq!(left, std::slice::from_ref(&work.out));
            let layout = Layout::of_result(&work.out).unwrap();
            // It is as it was written, with any input.
            assert_eq!(bad(check::check(&layout).unwrap()), []);
            let found = found_by_the_model(&work.out);
            match case.want {
                Inherited(word) => {
                    assert!(found.iter().any(|what| what.contains(word)), "{found:#?}");
                }
                _ => assert_eq!(found, Vec::<String>::new()),
            }
        }
        Err(error) => {
            assert!(left.is_empty(), "files left: {left:?}");
            one_paragraph(error);
            let place = error.place.to_string();
            assert!(
                place.starts_with("c.toml") || error.place.path.starts_with(work.dir.path()),
                "not as given: {place}"
            );
        }
    }
    assert_eq!(snapshot_of_files(&work), before, "the input was changed");
    result.map(|_| ())
}

/// Counts the files of the input, without unreadable ones.
fn snapshot_of_files(work: &Work) -> usize {
    let odd = walk(&work.bsp).any(|kind| !kind.is_file() && !kind.is_dir());
    if odd {
        0
    } else {
        snapshot(&work.bsp).values().map(Vec::len).sum()
    }
}

fn walk(dir: &Path) -> Box<dyn Iterator<Item = fs::FileType>> {
    let entries: Vec<_> = fs::read_dir(dir).unwrap().map(Result::unwrap).collect();
    Box::new(entries.into_iter().flat_map(|entry| {
        let kind = entry.file_type().unwrap();
        let below = if kind.is_dir() {
            walk(&entry.path())
        } else {
            Box::new(std::iter::empty())
        };
        std::iter::once(kind).chain(below)
    }))
}

fn run(cases: Vec<Case>) {
    let mut faults = Vec::new();
    for case in cases {
        let (done, wait) = mpsc::channel();
        let name = case.name;
        let worker = thread::spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| outcome(&case)));
            let _ = done.send(());
            (case, result)
        });
        assert!(
            wait.recv_timeout(Duration::from_secs(60)).is_ok(),
            "{name}: a hang"
        );
        let (case, result) = worker.join().unwrap();
        let fault = match (&case.want, result) {
            (_, Err(_)) => "a panic or a failed assertion, see above".into(),
            (Any, _) | (Sound | Inherited(_), Ok(Ok(()))) => continue,
            (Refused(place, words), Ok(Err(e)))
                if e.place.to_string().contains(place) && e.paragraph().contains(words) =>
            {
                continue;
            }
            (_, Ok(Ok(()))) => "extended".into(),
            (_, Ok(Err(e))) => e.paragraph(),
        };
        faults.push(format!("{name}: {fault}"));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn module(kind: &str, name: &str) -> String {
    format!(" <module kind=\"{kind}\" version=\"1.0\" enabled=\"1\" name=\"{name}\" />")
}

fn connection(kind: &str, start: &str, end: &str) -> String {
    format!(" <connection kind=\"{kind}\" version=\"13.1\" start=\"{start}\" end=\"{end}\" />")
}

#[test]
fn xml_that_is_none() {
    let deep = |n: usize| format!("<system>\n{}", "<a>".repeat(n));
    run(vec![
        content("empty", Refused("system.qsys", "no XML"), "system.qsys", ""),
        content(
            "words",
            Refused("system.qsys:1", "text outside"),
            "system.qsys",
            "words\n",
        ),
        content(
            "zeros",
            Refused("system.qsys:1", ""),
            "system.qsys",
            vec![0; 4096],
        ),
        content(
            "binary",
            Refused("system.qsys:1", ""),
            "system.qsys",
            (0..=255).collect::<Vec<u8>>(),
        ),
        content(
            "UTF-16",
            Refused("system.qsys:1", ""),
            "system.qsys",
            b"\xff\xfe<\0s\0/\0>\0".to_vec(),
        ),
        content(
            "deep",
            Refused("system.qsys:2", "nested elements"),
            "system.qsys",
            deep(1_000_000),
        ),
        content(
            "deep and closed",
            Refused("system.qsys:2", "nested elements"),
            "system.qsys",
            format!("{}{}</system>", deep(200_000), "</a>".repeat(200_000)),
        ),
        content(
            "wide",
            Refused("system.qsys:1", "elements and attributes"),
            "system.qsys",
            format!("<system>{}</system>", "<a/>".repeat(2_000_000)),
        ),
        content(
            "an element with many attributes",
            Refused("system.qsys:1", "attributes"),
            "system.qsys",
            format!(
                "<system{}/>",
                (0..100_000)
                    .map(|n| format!(" a{n}=''"))
                    .collect::<String>()
            ),
        ),
        content(
            "an unknown entity",
            Refused("system.qsys:1", "entity"),
            "system.qsys",
            "<system>&lol;</system>",
        ),
        content(
            "entities of its own",
            Refused("system.qsys:2", "entity"),
            "system.qsys",
            "<!DOCTYPE s [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]>\n<system>&b;</system>",
        ),
        content(
            "an attribute twice",
            Refused("system.qsys:1", "attribute"),
            "system.qsys",
            "<system a='' a=''/>",
        ),
        content(
            "another root",
            Refused("system.qsys:1", "not <system>"),
            "system.qsys",
            "<library/>",
        ),
        content(
            "two roots",
            Refused("system.qsys:2", "second"),
            "system.qsys",
            "<system/>\n<system/>",
        ),
        content(
            "an instance without a name",
            Refused("system.qsys:2", "no attribute"),
            "system.qsys",
            "<system>\n<module kind='a'/></system>",
        ),
        content(
            "a list that is not a list",
            Refused("iface.ipx", "not a list"),
            "iface.ipx",
            "<system/>",
        ),
        content(
            "a list cut short",
            Refused("iface.ipx:2", "truncated"),
            "iface.ipx",
            "<library>\n",
        ),
        content(
            "a specification cut short",
            Refused("board_spec.xml:2", ""),
            "board_spec.xml",
            "<board>\n<dev",
        ),
    ]);
}

#[test]
fn files_of_odd_kinds_and_sizes() {
    run(vec![
        case(
            "a named pipe called .qsys",
            Refused("iface/p.qsys", "neither a file"),
            |w| {
                pipe(&w.input("iface/p.qsys"));
            },
        ),
        case(
            "a named pipe called .qsf",
            Refused("p.qsf", "neither a file"),
            |w| pipe(&w.input("p.qsf")),
        ),
        case(
            "a named pipe in place of the list",
            Refused("iface.ipx", ""),
            |w| {
                fs::remove_file(w.input("iface.ipx")).unwrap();
                pipe(&w.input("iface.ipx"));
            },
        ),
        case(
            "an endless device",
            Refused("endless.qsys", "out of the BSP"),
            |w| {
                std::os::unix::fs::symlink("/dev/zero", w.input("endless.qsys")).unwrap();
            },
        ),
        // The design does not use this system.
        case("a link to nothing", Sound, |w| {
            std::os::unix::fs::symlink("nowhere", w.input("gone.qsys")).unwrap();
        }),
        case("a link in a circle", Sound, |w| {
            std::os::unix::fs::symlink("round.qsys", w.input("round.qsys")).unwrap();
        }),
        case("a directory called .qsys", Sound, |w| {
            fs::create_dir(w.input("dir.qsys")).unwrap()
        }),
        case("a socket", Refused("s.qsys", "neither a file"), |w| {
            std::os::unix::net::UnixListener::bind(w.input("s.qsys")).unwrap();
        }),
        case("a system of 79 MB", Refused("system.qsys", "bytes"), |w| {
            let file = fs::File::options()
                .write(true)
                .open(w.input("system.qsys"))
                .unwrap();
            file.set_len(79_000_000).unwrap();
        }),
        case("settings of 79 MB", Refused("top.qsf", "bytes"), |w| {
            let file = fs::File::options()
                .write(true)
                .open(w.input("top.qsf"))
                .unwrap();
            file.set_len(79_000_000).unwrap();
        }),
        case(
            "settings of 60,000 lines",
            Refused("top.qsf", "more than 50000 commands"),
            |w| fs::write(w.input("top.qsf"), "set_a b\n".repeat(60_000)).unwrap(),
        ),
        case("a system whose name is not UTF-8", Sound, |w| {
            let name = OsStr::from_bytes(b"old_\xff\xe4.qsys");
            fs::copy(
                w.input("iface/board_status.qsys"),
                w.input("iface").join(name),
            )
            .unwrap();
        }),
        case("a settings file whose name is not UTF-8", Sound, |w| {
            fs::remove_file(w.input("top.qpf")).unwrap();
            let name = w.input("").join(OsStr::from_bytes(b"top_\xff.qsf"));
            fs::copy(w.input("top.qsf"), name).unwrap();
        }),
    ]);
}

#[test]
fn systems_that_cannot_be() {
    let bridge = |n: usize| {
        format!(
            " <module kind=\"altera_avalon_mm_bridge\" name=\"b{n}\"><parameter name=\"ADDRESS_WIDTH\" \
             value=\"17\"/></module>\n"
        )
    };
    // Every bridge leads to every other.
    let maze: String = (0..30)
        .map(|n| {
            bridge(n)
                + &(0..30)
                    .map(|m| connection("avalon", &format!("b{n}.m0"), &format!("b{m}.s0")))
                    .collect::<String>()
        })
        .collect();
    let maze = maze + &connection("avalon", "control_pipe.m0", "b0.s0");
    let itself =
        " <interface name=\"s\" internal=\"me.s\" />\n <module kind=\"round\" name=\"me\" />";
    let other = |kind: &str| {
        format!(
            "<system><interface name=\"s\" internal=\"x.s\"/><module kind=\"{kind}\" name=\"x\"/></system>"
        )
    };
    let (one, two) = (other("two"), other("one"));
    let (one_more, two_more) = (one.clone(), two.clone());
    run(vec![
        case(
            "a system that contains itself",
            Refused("round.qsys:3", "contains itself"),
            move |w| {
                let round = format!("<system>\n{itself}</system>");
                fs::write(w.input("round.qsys"), round).unwrap();
                let more = format!("{}\n <connection", module("round", "x"));
                w.edit(SYSTEM, " <connection", &more);
            },
        ),
        case("two that contain each other, in no use", Sound, move |w| {
            fs::write(w.input("one.qsys"), &one).unwrap();
            fs::write(w.input("two.qsys"), &two).unwrap();
        }),
        case(
            "two that contain each other, in use",
            Refused("two.qsys:1", "contains itself"),
            move |w| {
                fs::write(w.input("one.qsys"), &one_more).unwrap();
                fs::write(w.input("two.qsys"), &two_more).unwrap();
                w.edit(
                    SYSTEM,
                    " <connection",
                    &format!(
                        "{}\n{}\n <connection",
                        module("one", "x"),
                        connection("avalon", "control_pipe.m0", "x.s")
                    ),
                );
            },
        ),
        more("a maze of bridges", Any, maze),
        more(
            "a bridge that leads to itself",
            Any,
            connection("avalon", "control_pipe.m0", "control_pipe.s0"),
        ),
        more(
            "the same connection twice",
            Any,
            connection("avalon", "dma_engine.m", "dma_out.s0"),
        ),
        more(
            "an instance twice",
            Refused(SYSTEM, "instance bar_pipe exists twice"),
            module("altera_avalon_mm_bridge", "bar_pipe"),
        ),
        // An insertion after a connection meets the removal of the connection.
        change(
            "the DMA's clock from a bridge that goes",
            Refused("acl_iface_system.qsys", ""),
            SYSTEM,
            "start=\"ddr.afi_clk\"\n   end=\"dma_engine.clk\"",
            "start=\"dma_out.clk\"\n   end=\"dma_engine.clk\"",
        ),
        Case {
            config: "irq = \"msix\"",
            ..change(
                "the kernel's interrupt from a bridge that goes",
                Refused("", ""),
                SYSTEM,
                "end=\"kernels.kernel_irq_to_host\"",
                "end=\"dma_out.irq\"",
            )
        },
        change(
            "a bridge of 2^200 bytes",
            Any,
            SYSTEM,
            "name=\"ADDRESS_WIDTH\" value=\"17\"",
            "name=\"ADDRESS_WIDTH\" value=\"200\"",
        ),
        change(
            "a bridge of words without bits",
            Inherited("control_pipe.s0 ends at 0x40000"),
            SYSTEM,
            "<parameter name=\"ADDRESS_WIDTH\" value=\"17\" />\n  <parameter name=\"ADDRESS_UNITS\" value=\"SYMBOLS\" />",
            "<parameter name=\"DATA_WIDTH\" value=\"0\"/><parameter name=\"ADDRESS_WIDTH\" value=\"3\" />\n  \
             <parameter name=\"ADDRESS_UNITS\" value=\"WORDS\" />",
        ),
        change(
            "a slave at the end of the world",
            Refused(SYSTEM, "2 GiB"),
            SYSTEM,
            "value=\"0x3800\"",
            "value=\"0xffffffffffffffff\"",
        ),
        change(
            "memory at the end of the world",
            Refused("", ""),
            SYSTEM,
            "start=\"dma_engine.m\" end=\"memory.s\">\n  <parameter name=\"arbitrationPriority\" value=\"1\" />\n  \
             <parameter name=\"baseAddress\" value=\"0x0000\"",
            "start=\"dma_engine.m\" end=\"memory.s\">\n  <parameter name=\"arbitrationPriority\" value=\"1\" />\n  \
             <parameter name=\"baseAddress\" value=\"0xffffffffffffffff\"",
        ),
        change(
            "a base that is not a number",
            Any,
            SYSTEM,
            "value=\"0x3800\"",
            "value=\"somewhere\"",
        ),
        change(
            "a connection without a point",
            Refused("acl_iface_system.qsys", "instance.interface"),
            SYSTEM,
            "start=\"dma_engine.m\"",
            "start=\"dma_engine\"",
        ),
        change(
            "a port without a width",
            Refused("", "avmm_width_hwtcl"),
            SYSTEM,
            "<parameter name=\"avmm_width_hwtcl\" value=\"128\" />",
            "",
        ),
    ]);
}

#[test]
fn settings_and_specifications() {
    run(vec![
        change(
            "ALMs near 2^64",
            Refused("board_spec.xml:6", "alms"),
            "board_spec.xml",
            "alms num=\"20000\"",
            "alms num=\"18446744073709551615\"",
        ),
        change(
            "memory near 2^64",
            Refused("board_spec.xml", "global_mem"),
            "board_spec.xml",
            "size=\"0x100000000\"",
            "size=\"0xffffffffffffffff\"",
        ),
        change(
            "memory past 2^64",
            Refused("board_spec.xml", ""),
            "board_spec.xml",
            "address=\"0x00000000\"",
            "address=\"0xffffffffffffffff\"",
        ),
        change(
            "ALMs that are not a number",
            Any,
            "board_spec.xml",
            "alms num=\"20000\"",
            "alms num=\"many\"",
        ),
        content(
            "a missing revision and an existing one",
            Sound,
            "top.qpf",
            "# x\nPROJECT_REVISION = \"base\"\n",
        ),
        case(
            "a revision that does not exist",
            Refused("top.qpf:2", "\"base\" has no settings file"),
            |w| {
                w.put("top.qpf", "# x\nPROJECT_REVISION = \"base\"\n");
                fs::remove_file(w.input("top.qsf")).unwrap();
            },
        ),
        content(
            "a revision without a name",
            Sound,
            "top.qpf",
            "PROJECT_REVISION =",
        ),
        content(
            "one revision of two",
            Sound,
            "top.qpf",
            "PROJECT_REVISION = \"base\"\nPROJECT_REVISION = \"top\"\n",
        ),
        content("a project of bytes", Sound, "top.qpf", vec![0xff; 3000]),
        case("settings in latin-1", Sound, |w| {
            let path = w.input("top.qsf");
            let text = [b"# Ger\xe4t \xa9 2013\n".to_vec(), fs::read(&path).unwrap()].concat();
            fs::write(path, text).unwrap();
        }),
        case("a system with latin-1 in it", Sound, |w| {
            let path = w.input(SYSTEM);
            let text = fs::read(&path).unwrap();
            let at = text.windows(7).position(|t| t == b"<module").unwrap();
            fs::write(
                path,
                [&text[..at], b"<!-- Ger\xe4t -->", &text[at..]].concat(),
            )
            .unwrap();
        }),
        content(
            "settings without an end",
            Any,
            "top.qsf",
            "set_global_assignment -name",
        ),
        content(
            "settings with a brace that stays open",
            Any,
            "top.qsf",
            "set_global_assignment -name PARTITION_IMPORT_FILE {a -section_id b",
        ),
        case("settings that source themselves", Sound, |w| {
            let path = w.input("top.qsf");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(
                path,
                text + "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE top.qsf\n",
            )
            .unwrap();
        }),
        Case {
            config: "att_entries = 18446744073709551615",
            ..case("a table of 2^64", Refused("c.toml:1", ""), |_| {})
        },
        Case {
            config: "[[[[[[",
            ..case(
                "a configuration of brackets",
                Refused("c.toml:1", ""),
                |_| {},
            )
        },
        Case {
            config: "[bar]\natt_base = 0x7ffff000",
            ..case("a table above the BAR", Refused("", ""), |_| {})
        },
    ]);
}

/// Bytes that are not UTF-8 stay unchanged.
#[test]
fn foreign_bytes_are_kept() {
    let work = Work::new();
    let comment = b"# Ger\xe4t \xa9 2013 \xe4\xf6\n";
    let path = work.input("top.qsf");
    fs::write(&path, [&comment[..], &fs::read(&path).unwrap()].concat()).unwrap();
    let system = work.input(SYSTEM);
    // The declaration must stay first.
    let text = fs::read_to_string(&system).unwrap();
    let (head, rest) = text.split_once('\n').unwrap();
    fs::write(
        &system,
        [head.as_bytes(), b"\n<!-- \xb5s -->", rest.as_bytes()].concat(),
    )
    .unwrap();
    work.extend("").unwrap();
    assert!(
        fs::read(work.output("top.qsf"))
            .unwrap()
            .starts_with(comment)
    );
    let made = fs::read(work.output(SYSTEM)).unwrap();
    assert!(made.windows(11).any(|t| t == b"<!-- \xb5s -->"));
}

/// Directories may have any name.
#[test]
fn directories_that_are_not_utf_8() {
    let mut work = Work::new();
    let odd = work.dir.path().join(OsStr::from_bytes(b"b\xffsp"));
    fs::rename(&work.bsp, &odd).unwrap();
    let hardware = odd.join("hardware");
    fs::rename(
        hardware.join("peerlane_ref"),
        hardware.join(OsStr::from_bytes(b"r\xe4f")),
    )
    .unwrap();
    work.bsp = odd;
    work.out = work
        .dir
        .path()
        .join("work")
        .join(OsStr::from_bytes(b"o\xfft"));
    work.extend("").unwrap();
    let findings = peerlane_bsp_check::check(&Layout::find(&work.out).unwrap()).unwrap();
    assert_eq!(findings.errors(), 0, "{:#?}", findings.0);
}

/// Errors name a file as it was given, by a link or relative to the current directory.
#[test]
fn places_are_as_given() {
    let work = Work::new();
    let door = work.dir.path().join("door");
    std::os::unix::fs::symlink(&work.bsp, &door).unwrap();
    edit(&work.input("system.qsys"), "</system>", "");
    let error = extend_to(&door, &work.out, Config::default(), None).unwrap_err();
    let want = door.join("hardware/peerlane_ref/system.qsys");
    assert_eq!(error.place.path, want, "{}", error.paragraph());
    assert!(error.place.line.is_some());
    // A fault of the input that an extension passes on: Platform Designer refuses the vendor's system, too.
    let work = Work::new();
    work.edit(SYSTEM, "end=\"status.s\"", "end=\"nowhere.s\"");
    inherits(&work, "", &["no instance nowhere"]);
}
