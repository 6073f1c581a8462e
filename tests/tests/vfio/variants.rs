//! The same tests with other kernels, boards and users.

use super::TESTS;
use crate::lab::Setup;
use crate::{examples, libraries};
use peerlane_tools::Series;

#[test]
#[ignore = "external tools: cargo xtask test vfio-variants"]
fn linux_6_1() {
    Setup::new(Series::Bookworm).run(TESTS);
}

#[test]
#[ignore = "external tools: cargo xtask test vfio-variants"]
fn linux_of_the_driver() {
    Setup::new(Series::Backports).run(TESTS);
}

#[test]
#[ignore = "external tools: cargo xtask test vfio-variants"]
fn an_interrupt_line() {
    Setup::new(Series::Trixie).irq_line().run(TESTS);
}

#[test]
#[ignore = "external tools: cargo xtask test vfio-variants"]
fn an_ordinary_user_of_a_locked_kernel() {
    Setup::new(Series::Trixie)
        .user(512)
        .locked_down()
        .run(&format!(
            "{TESTS}\ntest $(id -u) = 1000\ntest $(ulimit -l) = 524288"
        ));
}

/// The board's own node instead of its group, in a kernel that has no groups.
#[test]
#[ignore = "external tools: cargo xtask test vfio-variants"]
fn an_ordinary_user_of_iommufd() {
    Setup::new(Series::Backports)
        .iommufd()
        .user(512)
        .run(&format!("test $(id -u) = 1000\n{TESTS}"));
}

/// Programs as users have them, without changes. CUDA finds no GPU, so the processor takes its place. Python's tests of
/// a board with a file are for the kernel's driver: by VFIO a board is in the process, and asyncio waits in a thread.
#[test]
#[ignore = "external tools: cargo xtask test vfio-variants"]
fn examples_and_opencl_of_an_ordinary_user() {
    Setup::new(Series::Trixie)
        .user(512)
        .locked_down()
        .with(examples::programs)
        .with(examples::compiled)
        .with(examples::python)
        .with(libraries::files)
        .run(
            "test $(id -u) = 1000\n\
             hello\n\
             hello-c\n\
             python3 /srv/hello.py\n\
             acquisition\n\
             inference_feed\n\
             peerlane bench transfers --device $board --routes host --sizes 4KiB,64KiB --repeat 3 --csv /tmp/rates.csv\n\
             grep -c host,65536,cached,3, /tmp/rates.csv\n\
             peerlane-guest libraries-vfio --rounds 2",
        );
}

/// Without a table of vectors: QEMU ends with an assertion when it removes such a device of vfio-user.
#[test]
#[ignore = "external tools: cargo xtask test vfio-variants"]
fn a_board_that_is_taken_out() {
    Setup::new(Series::Trixie)
        .irq_line()
        .with(examples::command)
        .run("peerlane-guest vfio-hotplug --rounds 2");
}

#[test]
#[ignore = "external tools: cargo xtask test vfio-variants"]
fn two_boards_of_an_ordinary_user() {
    Setup::new(Series::Trixie)
        .user(512)
        .two_boards()
        .run("peerlane-guest vfio-two --rounds 2");
}
