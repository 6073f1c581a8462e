//! The same tests with other kernels, boards and users.

use super::OPENED;
use crate::lab::Setup;
use peerlane_tools::Series;

#[test]
#[ignore = "external tools: cargo xtask test vfio-variants"]
fn linux_6_1() {
    Setup::new(Series::Bookworm).run(OPENED);
}

#[test]
#[ignore = "external tools: cargo xtask test vfio-variants"]
fn linux_of_the_driver() {
    Setup::new(Series::Backports).run(OPENED);
}

#[test]
#[ignore = "external tools: cargo xtask test vfio-variants"]
fn an_interrupt_line() {
    Setup::new(Series::Trixie).irq_line().run(OPENED);
}

#[test]
#[ignore = "external tools: cargo xtask test vfio-variants"]
fn an_ordinary_user_of_a_locked_kernel() {
    Setup::new(Series::Trixie)
        .user(8)
        .locked_down()
        .run(&format!(
            "{OPENED}\ntest $(id -u) = 1000\ntest $(ulimit -l) = 8192"
        ));
}
