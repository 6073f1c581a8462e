//! Tests of the driver on other machines and boards than those of the default run, and tests that take longer.

mod machines;

use super::tracepoints;
use crate::lab::Setup;
use crate::libraries;
use peerlane_endpoint::Config;

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn transfers() {
    Setup::default().run("peerlane-guest transfers");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn transfers_without_a_table_of_vectors() {
    Setup::default().irq_line().run("peerlane-guest transfers");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn a_board_that_dies() {
    Setup::default().run("peerlane-guest killed");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn kernels_on_a_line_beside_the_block() {
    Setup::default()
        .irq_line()
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest opencl --filter opencl.kernels");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn wrong_ioctls_where_there_is_no_window() {
    Setup::default().windowless().run("peerlane-guest ioctls");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn what_an_administrator_sees_and_sets() {
    Setup::default()
        .parameter("user_entries=64 user_memory_mib=1 user_gpu_mib=2")
        .run("mount -t cgroup2 cgroup2 /sys/fs/cgroup; peerlane-guest admin");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn an_attacker_beside_a_victim() {
    // No more memory than the board fills with zeros while a process waits.
    Setup::default()
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest hostile");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn reprogrammed_over_pcie() {
    Setup::default()
        .cvp()
        // `configure_all` is refused: this machine has no IOMMU.
        .parameter("memory_pool_mib=16 hold_all=1 configure_all=1")
        // For the test's probes, where the kernel supports them.
        .run("mount -t tracefs tracefs /sys/kernel/tracing || true; peerlane-guest programming");
}

/// Checks that nothing reads the BAR of a board without a configuration, not even after a reset.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn left_empty_on_a_line() {
    Setup::default()
        .cvp()
        .irq_line()
        .parameter("memory_pool_mib=16 hold_all=1")
        .run("peerlane-guest programming --filter programming.left_empty");
}

/// A user that may configure only because the administrator allows it has this much time.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn reprogrammed_by_a_user() {
    Setup::default()
        .cvp()
        .iommu()
        .parameter("memory_pool_mib=16 hold_all=1 configure_all=1 configure_s=5")
        .run("peerlane-guest programming --filter programming.rights_granted");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn the_board_libraries_for_opencl() {
    Setup::default()
        .with(libraries::files)
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest libraries");
}

/// Transfers of more than 512 KiB are split into windows.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn the_board_libraries_with_few_entries() {
    Setup::default()
        .with(libraries::files)
        .parameter("memory_pool_mib=16 context_entries=128")
        .run("peerlane-guest libraries --filter contract");
}

/// Installs the descriptions `/modules/$1.board`, and loads the driver. The driver must not take the board, and must
/// report `$2`.
const REFUSED: &str = "refused() {\n\
    rmmod peerlane\n\
    dmesg -c >/dev/null\n\
    cp /modules/$1.board $PEERLANE_BOARD\n\
    insmod $PEERLANE_MODULE $PEERLANE_PARAMETERS\n\
    test ! -e /dev/peerlane0 || exit 1\n\
    dmesg | grep -F \"$2\" || exit 1\n\
    }\n\
    taken() {\n\
    rmmod peerlane\n\
    insmod $PEERLANE_MODULE $PEERLANE_PARAMETERS\n\
    test -e /dev/peerlane0\n\
    }\n";

/// Returns the description of a board that is at another place.
fn moved(config: &Config, to: impl FnOnce(&mut Config)) -> String {
    let mut other = config.clone();
    to(&mut other);
    other.description("other")
}

/// The driver believes no description that the hardware does not confirm, and takes the first that it does.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn descriptions_that_do_not_fit_are_refused() {
    Setup::default()
        .other_file("elsewhere", |config, _| {
            moved(config, |other| other.layout.att += 0x1_0000)
        })
        .other_file("nowhere", |config, _| {
            moved(config, |other| other.layout.csr = 1 << 40)
        })
        .other_file("altered", |_, text| {
            text.replace("kernels 0x4000 0x4000", "kernels 0x4000 0x8000")
        })
        .other_file("places", |_, text| text.replace("att=0x28000", "att=0x30000"))
        .other_file("older", |_, text| text.replace("board 1", "board 0"))
        .other_file("several", |config, text| {
            let elsewhere = moved(config, |other| other.layout.att += 0x1_0000);
            let altered = text.replace("kernels 0x4000 0x4000", "kernels 0x4000 0x8000");
            elsewhere + &altered + text
        })
        .run(&format!(
            "{REFUSED}\
             test -e /dev/peerlane0\n\
             id=$(cat /sys/bus/pci/drivers/peerlane/0000:*/peerlane/build_id)\n\
             refused elsewhere \"1172-ab00-504c.board has no description with BUILD_ID $id\"\n\
             refused elsewhere 'peerlane install-board'\n\
             refused places \"has no description with BUILD_ID $id\"\n\
             refused nowhere 'no description in peerlane/1172-ab00-504c.board fits its BARs'\n\
             refused altered 'from line 1 on cannot be used: the lines after \"block\" were changed'\n\
             refused older 'cannot be used: the first line is not'\n\
             cp /modules/several.board $PEERLANE_BOARD\n\
             taken\n\
             mv $PEERLANE_BOARD ${{PEERLANE_BOARD%504c.board}}any.board\n\
             taken\n\
             rm ${{PEERLANE_BOARD%504c.board}}any.board\n\
             rmmod peerlane\n\
             dmesg -c >/dev/null\n\
             insmod $PEERLANE_MODULE $PEERLANE_PARAMETERS\n\
             test ! -e /dev/peerlane0\n\
             dmesg | grep -F 'there is no peerlane/1172-ab00-504c.board' | grep -F 'peerlane install-board'\n\
             cp /modules/right.board $PEERLANE_BOARD\n\
             taken"
        ));
}

/// The hardware confirms all places that it was built with, also impossible ones.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn a_board_that_was_built_for_impossible_places_is_refused() {
    Setup::default()
        .mistaken(|slaves| slaves.att = slaves.chan)
        .run(
            "test ! -e /dev/peerlane0\n\
             dmesg | grep -F 'not a board of this driver: chan (0x8000 bytes at 0x20000) overlaps att (0x8000 bytes at \
             0x20000)'",
        );
}

/// Two builds with the same PCI IDs, whose slaves lie at different places: one file describes both.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn two_different_boards() {
    Setup::default().second_board(16).run(
        "test $(grep -c '^peerlane board' $PEERLANE_BOARD) = 2\n\
         test \"$(cat /sys/bus/pci/drivers/peerlane/0000:*/peerlane/channels | sort -n | tr '\\n' ' ')\" = '8 16 '\n\
         peerlane-guest two --filter two.of_one_process",
    );
}

/// The vendor's board has the same vendor and device: it belongs to another driver, and this driver does not even read
/// it. Root may say otherwise.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn a_board_of_another_subsystem_is_not_looked_at() {
    Setup::default().subsystem(0x0004).run(
        "test ! -e /dev/peerlane0\n\
         dmesg | grep -F 'peerlane 0000:' && exit 1\n\
         mv $PEERLANE_BOARD /lib/firmware/peerlane/1172-ab00-0004.board\n\
         board=$(grep -l 0x1172 /sys/bus/pci/devices/*/vendor)\n\
         board=${board%/vendor}\n\
         echo peerlane > $board/driver_override\n\
         echo ${board##*/} > /sys/bus/pci/drivers_probe\n\
         test -e /dev/peerlane0",
    );
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn a_board_behind_translation_windows_is_refused() {
    Setup::default().translated().run(&format!(
        "{REFUSED}refused right 'addresses of 32 bits, which the hard IP translates'"
    ));
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn ends_in_every_order_under_an_iommu() {
    Setup::default().iommu().run("peerlane-guest lifetimes");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn memory_of_a_gpu() {
    Setup::default().reset_fabric().run("peerlane-guest gpu");
}

/// Raw addresses as from NVIDIA's driver: NVIDIA/open-gpu-kernel-modules, issue 1324.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn memory_of_a_gpu_that_gives_raw_addresses() {
    Setup::default()
        .reset_fabric()
        .iommu()
        .gpu_at_the_root()
        .run(
            "echo Y > /sys/module/fakegpu/parameters/raw_addresses\n\
         peerlane-guest gpu",
        );
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn memory_of_a_gpu_behind_the_host_bridge_and_an_iommu() {
    Setup::default()
        .iommu()
        .gpu_at_the_root()
        .run("peerlane-guest gpu --filter data");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn memory_of_a_gpu_on_a_board_that_is_stuck() {
    // The block does not find out in that time that its port is stalled.
    Setup::default()
        .iommu()
        .port_timeout(1_000_000_000)
        .parameter("patience_ms=1000")
        .run("peerlane-guest gpu-stuck");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn memory_of_a_gpu_far_away() {
    Setup::default().far_gpu().run("peerlane-guest gpu-far");
}

/// The path exists in this machine, although the kernel does not know it.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn memory_of_a_gpu_far_away_that_is_tried() {
    Setup::default()
        .far_gpu()
        .iommu()
        .parameter("any_distance=1")
        .run(
            "echo Y > /sys/module/fakegpu/parameters/any_distance\n\
             echo Y > /sys/module/fakegpu/parameters/raw_addresses\n\
             peerlane-guest gpu-far-tried",
        );
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn faults_where_resets_do_not_reach_the_fabric() {
    Setup::default().run(
        "for event in under_load stores_while gone_and_back port_stuck; do\n\
         peerlane-guest faults --filter $event || exit 1\n\
         done",
    );
}

/// One unanswered read ends all reads on this port, until the link is reset.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn reads_that_are_not_answered() {
    Setup::default().reset_fabric().run(
        "for event in lost_reads not_master read_request; do\n\
         peerlane-guest faults --filter $event || exit 1\n\
         done\n\
         peerlane-guest gpu --filter proved",
    );
}

/// With `pci=pcie_bus_perf` a function asks for as much at once as a packet carries, and the kernel does not let it
/// have more.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn a_board_that_may_not_read_enough_at_once_is_refused() {
    Setup::default().kernel_parameter("pci=pcie_bus_perf").run(
        "test ! -e /dev/peerlane0 || exit 1\n\
         dmesg | grep -F 'its Max Read Request Size stays at '",
    );
}

/// Only a reset of the link reaches the block, and opens a dead port. The kernel would try a function level reset
/// first, and the transition from D3hot to D0; neither reaches the block.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn a_dead_port_is_opened_by_a_reset_of_the_link() {
    Setup::default().reset_fabric().run(
        "peerlane-guest faults --filter port_stuck || exit 1\n\
         dmesg | grep -F 'the function was reset and started again' || exit 1\n\
         dmesg | grep -F 'cannot be started again' && exit 1\n\
         true",
    );
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn the_board_libraries_where_resets_reach_the_fabric() {
    Setup::default()
        .reset_fabric()
        .with(libraries::files)
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest libraries --filter .reset");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn doorbells_refused_without_pause_on_a_line() {
    Setup::default()
        .irq_line()
        .run("peerlane-guest faults --filter refused_without_");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn faults_with_a_status() {
    Setup::default().tagged().run("peerlane-guest faults");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn what_tracepoints_say_without_a_table_of_vectors() {
    tracepoints(Setup::default().irq_line(), "");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn costs() {
    // Memory for the pages of the largest transfer.
    Setup::default()
        .memory(2048)
        .parameter("kept_gpu_mib=256")
        .run("peerlane-guest cost");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn the_window_into_fpga_memory() {
    Setup::default().run("peerlane-guest window");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn faults() {
    Setup::default().reset_fabric().run("peerlane-guest faults");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn errors_that_nobody_mends() {
    Setup::default()
        .cvp()
        .parameter("recovery_s=3")
        .run("peerlane-guest faults-unmended");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn fpga_memory() {
    Setup::default()
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest memory");
}

/// Where the kernel does not ask for control of them, the registers of Advanced Error Reporting are left to the
/// firmware (`pci_aer_available` in Linux' `drivers/acpi/pci_root.c`).
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn reports_of_errors_that_are_the_firmwares() {
    Setup::default()
        .kernel_parameter("pci=noaer")
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest opencl --filter opencl.reports");
}

/// All of QEMU's ports can be hot-plugged. QEMU does not take devices with MSI-X out.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn programmed_in_a_slot_for_hot_plugging() {
    Setup::default()
        .irq_line()
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest opencl-hotplug");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn a_bar_that_is_held_up_where_resets_reach_the_fabric() {
    Setup::default()
        .reset_fabric()
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest opencl-fabric");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn a_machine_that_goes_off_under_load() {
    Setup::default()
        .left_loaded()
        .run("peerlane-guest left-running --filter faults.left_running");
}

/// A process keeps beginning and ending configurations. Checks that the board stays idle.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn a_machine_that_goes_off_while_a_board_is_configured() {
    Setup::default()
        .left_loaded()
        .run("peerlane-guest left-running --filter faults.left_in_configurations");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn the_board_libraries_on_a_block_that_is_stuck() {
    Setup::default()
        .with(libraries::files)
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest libraries-stuck");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn fpga_memory_that_everybody_may_hold() {
    Setup::default()
        .parameter("memory_pool_mib=16 hold_all=1")
        .run("peerlane-guest memory --filter memory.all");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn transfers_behind_a_transaction_layer() {
    Setup::default()
        .packets()
        .iommu()
        .run("peerlane-guest transfers");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn memory_of_a_gpu_behind_a_transaction_layer() {
    Setup::default().packets().iommu().run("peerlane-guest gpu");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn ends_in_every_order_behind_a_transaction_layer() {
    Setup::default().packets().run("peerlane-guest lifetimes");
}

/// Without the tests of a stalled port: with a transaction layer the host's reads from the board come after the board's
/// writes (PCI Express Base Specification 2.1, table 2-34), so the host finds the board gone. And without the line of
/// legacy interrupts, which this build does not have.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn faults_behind_a_transaction_layer() {
    Setup::default().packets().run(
        "for event in .from_fpga .to_fpga late_ signal under_load stores_while try_again back resets cut_off others looked \
         another submitted emptied taken_over module; do\n\
         peerlane-guest faults --filter $event || exit 1\n\
         done",
    );
}

/// Reads that the transaction layer gives up for lack of an answer: the kernel's log reports them, and their number.
#[test]
#[ignore = "external tools: cargo xtask test kernel-variants"]
fn reads_that_a_transaction_layer_gives_up_are_told() {
    let setup = Setup::default().impatient_packets();
    setup.run("peerlane-guest faults --filter given_up_reads\n");
}
