//! Boards for which the open runtime would end the program: they cannot be opened, and the message has the reason. The
//! runtime's assertions were read in its sources; `tests/opencl` makes it open the boards that are accepted.

use crate::board::Registers;
use crate::{EMPTY, OLD, Toys, in_a_process};
use peerlane_contract::{Bench, Calls, InProcess, Runtime, Version};
use peerlane_mmd_core::{Flavour, Mmd};
use std::time::{Duration, Instant};

/// A faulty board, and a part of the message about it.
struct Case {
    spoil: fn(&Toys),
    says: &'static str,
}

/// Time of a calibration that does not end in a test's time.
fn never() -> Option<Instant> {
    Some(Instant::now() + Duration::from_secs(3600))
}

/// Sets the value of a register of the kernels' clock.
fn says(toys: &Toys, register: u64, value: u32) {
    toys.side.lock().clock.insert(register, value);
}

const CASES: &[Case] = &[
    Case {
        spoil: |toys| toys.side.lock().calibrated = never(),
        says: "its memory is not calibrated (status 0x2,",
    },
    Case {
        spoil: |toys| toys.side.lock().version = 0xffff_ffff,
        says: "kernel interface reports version 0xffffffff",
    },
    Case {
        spoil: |toys| toys.side.lock().out_of_reset = 0,
        says: "do not come out of their reset",
    },
    Case {
        spoil: |toys| says(toys, 0, 0xa0c0_0003),
        says: "clock reports version 0xa0c00003",
    },
    // No frequency, a frequency that is too high, no multiplier, halves that differ, an invalid resistor, an invalid
    // pump.
    Case {
        spoil: |toys| says(toys, 0x400, 0),
        says: "the setting of its kernels' clock is not valid: [0, 8, 1",
    },
    Case {
        spoil: |toys| says(toys, 0x400, 2_000_000),
        says: "the setting of its kernels' clock is not valid: [2000000",
    },
    Case {
        spoil: |toys| says(toys, 0x404, 0),
        says: "the setting of its kernels' clock is not valid",
    },
    Case {
        spoil: |toys| says(toys, 0x410, 5),
        says: "the setting of its kernels' clock is not valid",
    },
    Case {
        spoil: |toys| says(toys, 0x418, 4001),
        says: "the setting of its kernels' clock is not valid",
    },
    Case {
        spoil: |toys| says(toys, 0x41c, 25),
        says: "the setting of its kernels' clock is not valid",
    },
    Case {
        spoil: |toys| says(toys, 0x424, 200_000),
        says: "clock has two settings",
    },
    Case {
        spoil: |toys| says(toys, 0x120, 0),
        says: "clock does not lock",
    },
    // Text: none, of other versions, that ends early, of a memory that the board does not have.
    Case {
        spoil: |toys| toys.side.lock().rom.clear(),
        says: "its ROM has the text \"\"..., which the runtime does not read",
    },
    Case {
        spoil: |toys| toys.side.lock().rom = vec![0xff; 4096],
        says: "which the runtime does not read",
    },
    Case {
        spoil: |toys| toys.side.lock().rom = EMPTY.replacen("23 ", "22 ", 1).into(),
        says: "the version is 22, not 23",
    },
    Case {
        spoil: |toys| toys.side.lock().rom = OLD.replacen("13 ", "12 ", 1).into(),
        says: "the version is 12, not 23",
    },
    Case {
        spoil: |toys| toys.side.lock().rom = OLD[..20].into(),
        says: "the version is 13, not 23",
    },
    Case {
        spoil: |toys| toys.side.lock().rom = EMPTY[..60].into(),
        says: "autodiscovery text: word",
    },
    Case {
        spoil: |toys| {
            let far = EMPTY.replace("2 1 2 0 134217728", "2 1 2 1073741824 2147483648");
            toys.side.lock().rom = far.into();
        },
        says: "FPGA memory from 0x40000000 on, but the board has 0x0 to 0x8000000",
    },
    // A long ROM that is shorter than its length field, or that has no valid length.
    Case {
        spoil: |toys| {
            let mut side = toys.side.lock();
            (side.version, side.digits) = (0xa0c0_0002, Some(b"00000000"));
        },
        says: "its ROM has \"00000000\" in place of the length of its text",
    },
    Case {
        spoil: |toys| {
            let mut side = toys.side.lock();
            (side.version, side.digits) = (0xa0c0_0002, Some(b"\xff\xff\xff\xff\xff\xff\xff\xff"));
        },
        says: "in place of the length of its text",
    },
    Case {
        spoil: |toys| {
            let mut side = toys.side.lock();
            (side.version, side.digits) = (0xa0c0_0002, Some(b"3FFFFFFF"));
        },
        says: "its ROM has \"3FFFFFFF\"",
    },
    Case {
        spoil: |toys| {
            let mut side = toys.side.lock();
            side.version = 0xa0c0_0002;
            side.rom.clear();
        },
        says: "its ROM has \"00000000\"",
    },
];

#[test]
fn boards_that_would_end_the_program_are_refused_with_the_reason() {
    let name = "refused::boards_that_would_end_the_program_are_refused_with_the_reason";
    let output = in_a_process(name, || {
        for case in CASES {
            let toys = Toys::new(EMPTY);
            let mmd = toys.load();
            (case.spoil)(&toys);
            eprintln!("wanted {}", case.says);
            assert!(Runtime::open(mmd, "toy0", Version(24.2)).is_none());
            // The board is as free as before.
            let others = toys.driver.open().unwrap();
            drop(others.allocate_all(1).unwrap());
        }
    });
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    let mut lines = said.lines().skip_while(|line| !line.starts_with("wanted "));
    for case in CASES {
        assert_eq!(
            lines.next(),
            Some(&*format!("wanted {}", case.says)),
            "{said}"
        );
        let refused = lines.find(|line| line.contains(" cannot be opened: "));
        let refused = refused.unwrap_or_default();
        assert!(
            refused.starts_with("Peerlane MMD: toy0 cannot be opened: "),
            "{refused}"
        );
        for words in [case.says, "aocl program"] {
            assert!(refused.contains(words), "no {words:?} in {refused}");
        }
    }
}

/// A fault of the board after the programming, and a part of the message about it.
type Spoiled = (fn(&mut Registers), &'static str);

const SPOILED: &[Spoiled] = &[
    (
        |board| board.calibrated = never(),
        "its memory is not calibrated",
    ),
    (
        |board| board.clock.extend([(0x120, 0)]),
        "clock does not lock",
    ),
    (
        |board| board.clock.extend([(0x424, 200_000)]),
        "clock has two settings",
    ),
    (
        |board| board.out_of_reset = 0,
        "do not come out of their reset",
    ),
    (
        |board| board.rom = EMPTY[..60].into(),
        "autodiscovery text: word",
    ),
];

/// The runtime sets the board up after each programming as it did when it opened it, with the same assertions.
#[test]
fn an_image_that_would_end_the_program_is_refused_with_the_reason() {
    let name = "refused::an_image_that_would_end_the_program_is_refused_with_the_reason";
    let output = in_a_process(name, || {
        for (spoil, says) in SPOILED {
            let toys = Toys::new(EMPTY);
            let runtime = Bench::open(&toys);
            toys.programs.lock().unwrap().spoil = Some(*spoil);
            eprintln!("wanted {says}");
            assert!(!runtime.program(&mut toys.image(1), 0));
            // The board is as free as before.
            let others = toys.driver.open().unwrap();
            drop(others.allocate_all(1).unwrap());
        }
    });
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    for (_, says) in SPOILED {
        let mut lines = said
            .lines()
            .skip_while(|line| *line != format!("wanted {says}"));
        let refused = lines.find(|line| line.contains(": programming: "));
        assert!(
            refused.is_some_and(|line| line.contains(says)),
            "{says}: {said}"
        );
    }
}

/// The calibration after a configuration takes some time.
#[test]
fn memory_that_is_calibrated_behind_a_programming_is_waited_for() {
    const TAKES: Duration = Duration::from_millis(300);
    for flavour in [Flavour::OPEN, Flavour::LEGACY] {
        let toys = Toys::new(EMPTY);
        let mmd = InProcess::keep(Mmd::new(flavour, toys.clone()));
        let (runtime, _) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
        let later = |board: &mut Registers| board.calibrated = Some(Instant::now() + TAKES);
        toys.programs.lock().unwrap().spoil = Some(later);
        assert!(runtime.program(&mut toys.image(1), 0));
        let calibrated = toys.side.lock().calibrated.unwrap();
        assert!(Instant::now() >= calibrated);
        runtime.close();
        // Also when the board is opened.
        toys.side.lock().calibrated = Some(Instant::now() + TAKES);
        let (runtime, _) = Runtime::open(mmd, "toy0", Version(24.2)).unwrap();
        assert!(Instant::now() >= toys.side.lock().calibrated.unwrap());
        runtime.close();
    }
}

/// A board of which another program, or the driver's pool, has memory that the runtime would give to buffers.
#[test]
fn a_board_of_which_others_have_memory_is_refused_unless_that_is_accepted() {
    const OTHERS: u64 = 16 << 20;
    let name = "refused::a_board_of_which_others_have_memory_is_refused_unless_that_is_accepted";
    let output = in_a_process(name, || {
        // SAFETY: no other thread looks at the environment.
        let accept = |value| unsafe { std::env::set_var("PEERLANE_ACCEPT_LESS_MEMORY", value) };
        for (flavour, text) in [
            (Flavour::OPEN, EMPTY),
            (Flavour::OPEN, OLD),
            (Flavour::LEGACY, EMPTY),
            (Flavour::LEGACY, OLD),
        ] {
            let toys = Toys::new(text);
            let mmd = InProcess::keep(Mmd::new(flavour, toys.clone()));
            // SAFETY: it is a string.
            let open = || unsafe { mmd.open(c"toy0".as_ptr()) };
            let others = toys.driver.open().unwrap();
            let memory = others.allocate(OTHERS).unwrap();
            assert_eq!(memory.range().end, 128 << 20);
            for value in ["", "0", "yes"] {
                accept(value);
                assert_eq!(open(), -1);
            }
            accept("1");
            let handle = open();
            assert!(handle >= 0 && mmd.close(handle) == 0);
            // All memory is the program's.
            accept("");
            memory.free().unwrap();
            let handle = open();
            assert!(handle >= 0 && mmd.close(handle) == 0);
        }
        // A program that programs the FPGA needs no memory.
        let toys = Toys::new(EMPTY);
        let mmd = InProcess::keep(Mmd::new(Flavour::TOOL, toys.clone()));
        let others = toys.driver.open().unwrap();
        let _memory = others.allocate(OTHERS).unwrap();
        // SAFETY: it is a string.
        assert!(unsafe { mmd.open(c"toy0".as_ptr()) } >= 0);
    });
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    let lines = |words: &[&str]| {
        let all = |line: &&str| words.iter().all(|word| line.contains(word));
        said.lines().filter(all).count()
    };
    let sizes = "the first 128 MiB of its memory, but this program has only the first 112 MiB: the other 16 MiB";
    let refused = [
        "toy0 cannot be opened: OpenCL allocates from",
        sizes,
        "memory_pool_mib",
        "=1",
    ];
    assert_eq!(lines(&refused), 8, "{said}");
    assert_eq!(
        lines(&["cannot be opened: ", "neither 0 nor 1"]),
        4,
        "{said}"
    );
    assert_eq!(
        lines(&["toy0: OpenCL allocates from", sizes, "accepts that"]),
        4,
        "{said}"
    );
}

/// A program that programs the board takes it with any configuration. No closed runtime was available, so the
/// conditions for which it ends a program are unknown. Such a runtime also gets its text unchanged.
#[test]
fn only_the_open_runtime_is_refused_a_board() {
    for flavour in [Flavour::TOOL, Flavour::LEGACY] {
        let toys = Toys::new(OLD);
        toys.side.lock().clock.insert(0x424, 200_000);
        let mmd = InProcess::keep(Mmd::new(flavour, toys.clone()));
        // SAFETY: it is a string.
        let handle = unsafe { mmd.open(c"toy0".as_ptr()) };
        assert!(handle >= 0);
        let mut rom = [0_u8; 4096];
        let (to, none) = (rom.as_mut_ptr().cast(), std::ptr::null_mut());
        // SAFETY: the call blocks.
        assert_eq!(unsafe { mmd.read(handle, none, 4096, to, 0, 0x2000) }, 0);
        assert!(rom.starts_with(OLD.as_bytes()));
        let mut image = toys.image(1);
        let bytes = image.as_mut_ptr().cast();
        // SAFETY: so many bytes are there.
        let programmed = unsafe { mmd.program(handle, bytes, image.len(), 0) };
        assert_eq!(programmed, handle);
        assert_eq!(mmd.close(handle), 0);
    }
}

/// A board whose clock is off at first, and one whose clock is of 20 nm.
#[test]
fn boards_that_the_runtime_takes_are_taken() {
    let toys = Toys::new(EMPTY);
    let mmd = toys.load();
    // It has only a version and a lock.
    let mut side = toys.side.lock();
    side.clock.insert(0, 0xa0c0_0002);
    side.clock.insert(0x400, 0);
    drop(side);
    // SAFETY: it is a string.
    let handle = unsafe { mmd.open(c"toy0".as_ptr()) };
    assert!(handle >= 0 && mmd.close(handle) == 0);
}
