//! Several platforms in one computer, and the file that leads the runtime of each to its library.

use super::{Kind, Work, exists, library, says, told};
use peerlane_utilities::Platform;
use peerlane_utilities::install::{Options, install, uninstall};
use peerlane_utilities::setup::{self, Seen};
use std::fs;
use std::path::Path;

const INTEL: &str = "opt/Intel/OpenCL/Boards";
const ALTERA: &str = "opt/Altera/OpenCL/Boards";
const RULES: &str = "usr/lib/udev/rules.d/60-peerlane.rules";

/// Makes a platform of this version with this library.
fn platform(work: &Work, name: &str, version: &str, kind: Kind) -> Platform {
    let platform = work.platform_of(name);
    let root = &platform.root;
    let file = root.join("board_env.xml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("17.1", version)).unwrap();
    fs::write(root.join("linux64/lib/libpeerlane_mmd.so"), library(kind)).unwrap();
    Platform::read(root).unwrap()
}

fn put(work: &Work, platform: &Platform) -> Result<Vec<String>, String> {
    let (lines, done) = told(|say| install(&work.machine(), platform, &Options::default(), say));
    done.map(|()| lines)
}

fn take(work: &Work, platform: &Platform) -> Result<Vec<String>, String> {
    let (lines, done) = told(|say| uninstall(&work.machine(), platform, &Options::default(), say));
    done.map(|()| lines)
}

/// Returns the libraries that the files of a directory lead the runtimes to.
fn led(work: &Work, directory: &str, extension: &str) -> Vec<String> {
    let entries = fs::read_dir(work.root().join(directory));
    let files = entries.into_iter().flatten().flatten();
    let files = files.map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|one| one == extension));
    let mut lines: Vec<String> = files
        .flat_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            text.lines().map(String::from).collect::<Vec<_>>()
        })
        .collect();
    lines.sort();
    lines
}

fn of(platform: &Platform) -> String {
    platform.libraries[0].to_str().unwrap().into()
}

/// The open runtime ends every program at the library of the closed ones. So that library gets no file that the open
/// runtime reads, if its own runtime does not read that file either.
#[test]
fn each_runtime_has_the_file_that_it_reads() {
    for (version, kind, intel, altera) in [
        ("13.1", Kind::Legacy, false, false),
        ("14.1", Kind::Legacy, false, false),
        ("15.0", Kind::Legacy, false, false),
        ("15.1", Kind::Legacy, false, true),
        ("16.0", Kind::Legacy, false, true),
        ("16.1", Kind::Legacy, false, true),
        ("17.0", Kind::Legacy, true, false),
        ("17.1", Kind::Legacy, true, false),
        ("18.1", Kind::Legacy, true, false),
        ("unknown", Kind::Legacy, false, false),
        ("14.1", Kind::Open, true, false),
        ("16.1", Kind::Open, true, false),
        ("18.1", Kind::Open, true, false),
    ] {
        let what = format!("{version}, {kind:?}");
        let work = Work::new();
        let before = work.files();
        let one = platform(&work, "one", version, kind);
        put(&work, &one).unwrap();
        let expected = |there: bool| if there { vec![of(&one)] } else { vec![] };
        assert_eq!(led(&work, INTEL, "fcd"), expected(intel), "{what}");
        assert_eq!(led(&work, ALTERA, "acd"), expected(altera), "{what}");
        assert!(exists(&work.root().join(RULES)));
        // A second time, with the diagnostics of `diagnose`.
        let lines = put(&work, &one).unwrap();
        match intel || altera {
            true => says(&lines, "is there already"),
            false => says(&lines, "programs are linked with it"),
        }
        let seen = setup::look(&work.machine(), Some(&one), None);
        let wrong = seen
            .iter()
            .any(|seen| matches!(seen, Seen::Wrong(one) if one.what.contains("cd file")));
        assert!(!wrong, "{what}: {seen:?}");
        take(&work, &one).unwrap();
        assert_eq!(work.files(), before, "{what}");
        assert!(!work.root().join("var/lib/peerlane").exists());
    }
}

/// A file that an earlier Peerlane has written for a runtime that does not read it.
#[test]
fn a_file_of_the_wrong_form_goes() {
    let work = Work::new();
    let one = platform(&work, "one", "13.1", Kind::Legacy);
    let trap = work.root().join(INTEL).join("one_peerlane.fcd");
    fs::create_dir_all(trap.parent().unwrap()).unwrap();
    fs::write(&trap, format!("{}\n", of(&one))).unwrap();
    says(
        &put(&work, &one).unwrap(),
        "one_peerlane.fcd: will be removed",
    );
    assert!(!exists(&trap));
    // `uninstall` alone removes it, too.
    fs::create_dir_all(trap.parent().unwrap()).unwrap();
    fs::write(&trap, format!("{}\n", of(&one))).unwrap();
    take(&work, &one).unwrap();
    assert!(!exists(&trap));
}

/// Two platforms in every order: the remaining one works.
#[test]
fn what_stays_of_two_platforms_works() {
    let kinds = [
        ("14.1", Kind::Open),
        ("17.1", Kind::Open),
        ("13.1", Kind::Legacy),
        ("16.0", Kind::Legacy),
    ];
    // The directory and form of the runtime's files; `None`: it does not read such files.
    let place = |(version, kind): (&str, Kind)| match (version, kind) {
        (_, Kind::Open) => Some((INTEL, "fcd")),
        ("16.0", _) => Some((ALTERA, "acd")),
        _ => None,
    };
    for first in kinds {
        for second in kinds {
            for goes in [0, 1] {
                let what = format!("{first:?}, {second:?}, {goes} goes");
                let work = Work::new();
                let before = work.files();
                let both = [("one", first), ("two", second)];
                let both = both.map(|(name, (version, kind))| {
                    let platform = platform(&work, name, version, kind);
                    put(&work, &platform).unwrap();
                    platform
                });
                // Each board once, by a library for that runtime.
                for (one, other) in [(first, second), (second, first)] {
                    let Some((directory, extension)) = place(one) else {
                        continue;
                    };
                    let found = led(&work, directory, extension);
                    assert_eq!(found.len(), 1, "{what}: {found:?}");
                    let same = place(one) == place(other);
                    let mine = of(&both[usize::from(one == second && one != first)]);
                    assert!(same || found[0] == mine, "{what}: {found:?}");
                }
                let lines = take(&work, &both[goes]).unwrap();
                says(&lines, "driver and rules stay");
                let stays = &both[1 - goes];
                if let Some((directory, extension)) = place([first, second][1 - goes]) {
                    assert_eq!(led(&work, directory, extension), [of(stays)], "{what}");
                }
                let gone = of(&both[goes]);
                for (directory, extension) in [(INTEL, "fcd"), (ALTERA, "acd")] {
                    assert!(!led(&work, directory, extension).contains(&gone), "{what}");
                }
                assert!(exists(&work.root().join(RULES)), "{what}");
                take(&work, stays).unwrap();
                assert_eq!(work.files(), before, "{what}");
            }
        }
    }
}

/// Libraries for both runtimes that one runtime would read: the second is refused with the name of the first one, and
/// is accepted when the first one is removed.
#[test]
fn the_library_that_ends_a_runtime_is_refused() {
    for kinds in [[Kind::Open, Kind::Legacy], [Kind::Legacy, Kind::Open]] {
        let work = Work::new();
        let one = platform(&work, "one", "17.1", kinds[0]);
        let two = platform(&work, "two", "17.1", kinds[1]);
        put(&work, &one).unwrap();
        let files = work.files();
        let error = put(&work, &two).unwrap_err();
        assert!(
            error.contains("one_peerlane.fcd leads to the library for the "),
            "{error}"
        );
        assert!(error.contains("Uninstall that platform first"), "{error}");
        assert_eq!(work.files(), files);
        // If both are named by hand, `diagnose` reports it.
        let by_hand = work.root().join(INTEL).join("two_peerlane.fcd");
        fs::write(&by_hand, format!("{}\n", of(&two))).unwrap();
        let seen = setup::look(&work.machine(), None, None);
        let both = "name both libraries of Peerlane";
        assert!(
            seen.iter()
                .any(|seen| matches!(seen, Seen::Wrong(one) if one.what.contains(both))),
            "{seen:?}"
        );
        fs::remove_file(by_hand).unwrap();
        take(&work, &one).unwrap();
        put(&work, &two).unwrap();
        assert_eq!(led(&work, INTEL, "fcd"), [of(&two)]);
    }
}

/// A platform that was deleted, or has no library any more, inherits nothing.
#[test]
fn a_platform_that_is_gone_needs_nothing() {
    let work = Work::new();
    let before = work.files();
    let one = platform(&work, "one", "17.1", Kind::Open);
    let two = platform(&work, "two", "17.1", Kind::Open);
    put(&work, &one).unwrap();
    put(&work, &two).unwrap();
    fs::remove_dir_all(&two.root).unwrap();
    take(&work, &one).unwrap();
    assert_eq!(work.files(), before);
}

/// A dry run prints the files that would be handed over, and does nothing.
#[test]
fn what_is_handed_over_is_said() {
    let work = Work::new();
    let one = platform(&work, "one", "17.1", Kind::Open);
    let two = platform(&work, "two", "17.1", Kind::Open);
    put(&work, &one).unwrap();
    put(&work, &two).unwrap();
    let files = work.files();
    let dry = Options {
        dry_run: true,
        ..Options::default()
    };
    let (lines, done) = told(|say| uninstall(&work.machine(), &one, &dry, say));
    done.unwrap();
    says(&lines, "two_peerlane.fcd: would be written");
    assert_eq!(work.files(), files);
    // Also for a directory of one's own.
    let own = Options {
        directory: Some(Path::new("/own/boards").into()),
        fcd_only: true,
        dry_run: false,
    };
    let act = |platform: &Platform, puts: bool| {
        let (_, done) = told(|say| match puts {
            true => install(&work.machine(), platform, &own, say),
            false => uninstall(&work.machine(), platform, &own, say),
        });
        done.unwrap();
        led(&work, "own/boards", "fcd")
    };
    assert_eq!(act(&one, true), [of(&one)]);
    assert_eq!(act(&two, true), [of(&one)]);
    assert_eq!(act(&one, false), [of(&two)]);
    assert_eq!(act(&two, false), [""; 0]);
}
