//! The same tests with other kernels, boards and users.

use super::TESTS;
use crate::lab::Setup;
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
