//! Machines that boot, and machines that fail as they should.

use std::{fs, path::Path, time::Duration};

use peerlane_tools::{Cache, Flavour, Kernel, Lint, Qemu};
use peerlane_vm::{Error, Initramfs, Machine, guest_program};
use serde_json::{Value, json};

fn tools() -> (Qemu, Kernel) {
    let cache = Cache::open().unwrap();
    (
        cache.qemu().unwrap(),
        cache.kernel(Flavour::Debian).unwrap(),
    )
}

/// A machine with the program that asks about its arguments, and a script.
fn machine(script: &str) -> Machine {
    let (qemu, kernel) = tools();
    let mut files = Initramfs::new(&qemu).unwrap();
    files
        .shared_program(&guest_program("hello").unwrap())
        .unwrap();
    files.script(script);
    Machine::new(&qemu, &kernel, files)
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_program_talks_to_the_test_and_a_module_is_loaded() {
    let (qemu, kernel) = tools();
    let hello = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/tests/hello");
    let out = tempfile::tempdir().unwrap();
    let built = kernel.build(&hello, out.path(), Lint::Compiler).unwrap();
    let mut files = Initramfs::new(&qemu).unwrap();
    files
        .shared_program(&guest_program("hello").unwrap())
        .unwrap();
    files.module(&built.files[0]).unwrap();
    files.module(&kernel.aer_inject()).unwrap();
    files
        .script("uname -r\ninsmod /modules/hello.ko\ninsmod /modules/aer_inject.ko\nhello one two");
    let vm = Machine::new(&qemu, &kernel, files).cpus(2).start().unwrap();

    let mut asked = Vec::new();
    let log = vm
        .run(|_, question: String| {
            asked.push(question.clone());
            question.to_uppercase()
        })
        .unwrap();
    assert_eq!(asked, ["one", "two"]);
    for line in [kernel.release(), "hello: hello", "two: TWO"] {
        assert!(log.console().contains(line), "{line}: {}", log.console());
    }
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_program_brings_its_shared_libraries() {
    let (qemu, kernel) = tools();
    let mut files = Initramfs::new(&qemu).unwrap();
    // It is one itself.
    let this = std::env::current_exe().unwrap();
    files.shared_program(&this).unwrap();
    files.file("/srv/note", b"brought along").unwrap();
    let name = this.file_name().unwrap().display();
    files.script(&format!("{name} --list\ncat /srv/note"));
    let vm = Machine::new(&qemu, &kernel, files).start().unwrap();
    let log = vm.run(no_question).unwrap();
    for line in [
        "a_program_brings_its_shared_libraries: test",
        "brought along",
    ] {
        assert!(log.console().contains(line), "{line}: {}", log.console());
    }
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn devices_are_shared_plugged_and_broken_from_outside() {
    const BYTES: u64 = 1 << 20;
    let work = tempfile::tempdir().unwrap();
    let bar = work.path().join("bar");
    fs::write(&bar, 0x1234_5678_u32.to_le_bytes()).unwrap();
    fs::File::options()
        .write(true)
        .open(&bar)
        .unwrap()
        .set_len(BYTES)
        .unwrap();
    // 1af4:1110 is ivshmem, 1234:11e8 QEMU's device for lessons. The third line of `resource` begins with the address of BAR 2.
    let script = r#"
        devices() { grep -l $1 /sys/bus/pci/devices/*/device; }
        if hello boot | grep -q 'boot: 2'; then exit 0; fi
        test -e /sys/class/iommu/dmar0
        device=$(dirname $(devices 0x1110))
        bar=$(sed -n '3s/ .*//p' $device/resource)
        echo 1 >$device/enable
        hello $(devmem $bar 32)
        devmem $bar 32 0x9abcdef0
        hello plug
        until devices 0x11e8; do sleep 0.1; done
        hello break
        until dmesg | grep -q 'AER: Corr'; do sleep 0.1; done
        hello reset
    "#;
    let vm = machine(script)
        .iommu()
        .slots(2)
        .shared_memory("slot0", "gpu", &bar, BYTES)
        .reboots()
        .start()
        .unwrap();
    let mut boots = 0;
    let mut asked = Vec::new();
    vm.run(|qmp, question: String| {
        match question.as_str() {
            "boot" => boots += 1,
            "plug" => {
                assert_eq!(fs::read(&bar).unwrap()[..4], 0x9abc_def0_u32.to_le_bytes());
                qmp.device_add(json!({ "driver": "edu", "id": "edu", "bus": "slot1" }))
                    .unwrap();
            }
            "break" => qmp.inject_aer("slot0", "RCVR").unwrap(),
            "reset" => qmp.reset().unwrap(),
            _ => {}
        }
        asked.push(question);
        boots.to_string()
    })
    .unwrap();
    assert_eq!(
        asked,
        ["boot", "0x12345678", "plug", "break", "reset", "boot"]
    );
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_script_that_fails_fails_the_machine() {
    let vm = machine("echo on the console\nfalse\nhello never")
        .start()
        .unwrap();
    match vm.run(no_question) {
        Err(Error::Script { status: 1, output }) => {
            assert!(output.contains("on the console"), "{output}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_kernel_that_complains_fails_the_machine_unless_it_is_expected() {
    // A write to the kernel's log in the kernel's own form.
    let script = "echo 'WARNING: of this test' >/dev/kmsg";
    match machine(script).start().unwrap().run(no_question) {
        Err(Error::Kernel { complaints, .. }) => {
            assert!(
                complaints.ends_with("WARNING: of this test"),
                "{complaints}"
            );
        }
        other => panic!("{other:?}"),
    }
    let expected = machine(script).expect("of this test");
    expected.start().unwrap().run(no_question).unwrap();
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_panic_ends_the_machine_at_once_even_one_that_may_reboot() {
    let script = "echo c >/proc/sysrq-trigger\nsleep 100";
    for machine in [machine(script), machine(script).reboots()] {
        match machine.start().unwrap().run(no_question) {
            Err(Error::Kernel { complaints, .. }) => {
                assert!(complaints.contains("Kernel panic"), "{complaints}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_machine_that_hangs_is_ended_and_a_device_that_there_is_not_refused() {
    let hangs = machine("sleep 1000").deadline(Duration::from_secs(10));
    // The ten seconds can be over before the machine answers its start.
    match hangs.start().and_then(|machine| machine.run(no_question)) {
        Err(Error::Deadline { seconds: 10, .. }) => {}
        other => panic!("{other:?}"),
    }
    match machine("")
        .device(json!({ "driver": "no-such-device" }))
        .start()
    {
        Err(Error::Qemu { output, .. }) => assert!(output.contains("no-such-device"), "{output}"),
        other => panic!("{other:?}"),
    }
}

/// Answers a machine whose programs ask nothing.
fn no_question(_: &mut peerlane_vm::Qmp, question: Value) {
    panic!("asked {question}");
}
