//! Machines that are unlike those of all other tests: two boards, many channels, few vectors, memory in pieces, a board
//! that loses its table of vectors.

use crate::lab::Setup;

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn two_boards() {
    Setup::default().two_boards().run("peerlane-guest two");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn two_boards_under_an_iommu() {
    Setup::default()
        .two_boards()
        .iommu()
        .run("peerlane-guest two");
}

/// A vector for each channel, and two.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn a_board_of_64_channels() {
    Setup::default().channels(64).run("peerlane-guest channels");
}

/// Leaves the board alone, and says why. It is not tried again.
fn refused(setup: Setup, why: &str) {
    setup.run(&format!(
        "test ! -e /dev/peerlane0 || exit 1\n\
         dmesg | grep -F '{why}'"
    ));
}

/// Each channel has an entry of its own in the block's table, and the kernel writes only those of vectors that it
/// gives. So the other channels would never interrupt.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn a_board_of_64_channels_with_a_short_table_is_refused() {
    refused(
        Setup::default().channels(64).table_entries(40),
        "it needs 66 interrupt vectors, two and one for each channel: its table has 40 entries",
    );
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn a_board_in_a_machine_without_messages_is_refused() {
    refused(
        Setup::default().kernel_parameter("pci=nomsi"),
        "it needs 10 interrupt vectors, two and one for each channel: its table has 10 entries, and the kernel does not give \
         so many",
    );
}

/// Xen's operations copy memory without notice, as far as a device can know.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn a_board_with_dma_operations_of_its_own_is_refused() {
    const SLOT: &str =
        "$(basename $(dirname $(grep -l 0x504c /sys/bus/pci/devices/*/subsystem_device)))";
    Setup::default().run(&format!(
        "slot={SLOT}\n\
         own=/sys/module/fakegpu/parameters/own_dma\n\
         cd /sys/bus/pci/drivers/peerlane\n\
         echo $slot >unbind\n\
         echo 1 >$own\n\
         echo $slot >bind && exit 1\n\
         dmesg | grep -F 'operations of its own' || exit 1\n\
         echo 0 >$own\n\
         echo $slot >bind || exit 1\n\
         test -e /dev/peerlane0\n\
         cd /"
    ));
}

/// There is no IOMMU that would make one piece of many.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn memory_in_pages_without_neighbours() {
    Setup::default()
        .small_pages()
        .run("peerlane-guest scattered");
}

/// Each reset of the function takes the block's table of vectors with the rest of it, and only the kernel writes it again.
/// A vector whose entry is not written again never interrupts.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn resets_that_reach_the_table_of_vectors() {
    Setup::default().fabric_with_function().run(
        "for event in reset_under_load asleep_under_load suspended_under_load fatal_error_under_load \
         configured_by_others; do\n\
         peerlane-guest faults --filter faults.$event || exit 1\n\
         done\n\
         peerlane-guest faults --filter faults.restarted_after_configured",
    );
}
