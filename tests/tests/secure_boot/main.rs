//! Tests of a computer with Secure Boot: UEFI firmware, and shim, GRUB and a kernel that Debian has signed, in a virtual
//! machine with a board. The steps are those of docs/operate/secure-boot.md.

#[path = "../machines/module.rs"]
mod module;
#[path = "../machines/outside.rs"]
mod outside;
#[path = "../machines/simulated.rs"]
mod simulated;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use outside::Outside;
use peerlane_endpoint::opencl::CvpConfig;
use peerlane_endpoint::{Endpoint, Irq, Params, Resets};
use peerlane_guest::{PERIPHERY, Request};
use peerlane_tools::{Cache, Flavour, Kernel, System};
use peerlane_vm::{Initramfs, Machine, guest_program, vfio_user};
use simulated::{next_to_gpu, well_used};

/// The commands in the machine.
const STEPS: &str = include_str!("steps.sh");

/// The password of the request to enrol the key, and the keys that type it.
const PASSWORD: &str = "enrol";
const TYPED: [&str; 6] = ["e", "n", "r", "o", "l", "ret"];

/// Memory of the mock GPU, in bytes.
const VRAM: u64 = 256 << 20;

/// Commands of a Debian system. DKMS makes its key. The other lines are those of its source: `do_build` removes the
/// debug information and signs, `prepare_mok` makes a key. No user enrols the second key.
const SIGN: &str = r#"
set -e
dkms generate_mok
mkdir -p /srv
openssl req -new -x509 -nodes -days 36500 -subj "/CN=another key" -newkey rsa:2048 -keyout /srv/other.key \
	-addext extendedKeyUsage=codeSigning -outform DER -out /srv/other.pub
cp /mnt/peerlane.ko /srv/unsigned.ko
strip -g /srv/unsigned.ko
for name in signed other; do cp /srv/unsigned.ko /srv/$name.ko; done
sign() { /usr/lib/linux-kbuild-*/scripts/sign-file sha256 "$@"; }
sign /var/lib/dkms/mok.key /var/lib/dkms/mok.pub /srv/signed.ko
sign /srv/other.key /srv/other.pub /srv/other.ko
"#;

/// The system on which the module is signed, and the files made there.
struct Signer {
    system: System,
    changes: tempfile::TempDir,
}

impl Signer {
    fn new(cache: &Cache, kernel: &Kernel) -> Self {
        let version = kernel.release().trim_end_matches("-amd64");
        let kbuild = format!("linux-kbuild-{version}");
        let system = cache.system(&["dkms", "mokutil", "openssl", &kbuild]);
        let system = system.unwrap_or_else(|error| panic!("{error}; {}", error.hint()));
        let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../driver");
        let module = module::build(kernel, &driver, "peerlane.ko");
        let changes = tempfile::tempdir().unwrap();
        let mut command = system.command("bash", module.parent().unwrap(), changes.path());
        let output = command.args(["-c", SIGN]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        Self { system, changes }
    }

    /// Returns the path of a file that was made.
    fn made(&self, path: &str) -> PathBuf {
        self.changes.path().join("upper").join(path)
    }
}

/// Returns a copy of a program without debug information: the firmware reads the disk slowly.
fn stripped(program: &str, work: &Path) -> PathBuf {
    let copy = work.join(program);
    let mut command = Command::new("strip");
    command.args(["--strip-debug", "-o"]).arg(&copy);
    let status = command.arg(guest_program(program).unwrap()).status();
    assert!(status.unwrap().success(), "{program}");
    copy
}

#[test]
#[ignore = "external tools: cargo xtask test secure-boot"]
fn a_key_is_enrolled_and_the_module_accepted() {
    let cache = Cache::open().unwrap();
    let qemu = cache.qemu().unwrap();
    let firmware = cache.firmware().unwrap();
    let kernel = cache.kernel(Flavour::Debian).unwrap();
    let modules = ["efivarfs", "vfio_iommu_type1", "vfio-pci"];
    let modules = cache.modules(&kernel, &modules);
    let modules = modules.unwrap_or_else(|error| panic!("{error}; {}", error.hint()));
    let signer = Signer::new(&cache, &kernel);

    let work = tempfile::tempdir().unwrap();
    let socket = work.path().join("board");
    let vram = work.path().join("vram");
    let params = Params {
        irq: Irq::Msix,
        ..Params::default()
    };
    let mut config = next_to_gpu(params, &vram, VRAM);
    config.resets = Resets::Link;
    config.cvp = Some(CvpConfig {
        periphery: PERIPHERY,
        ..CvpConfig::default()
    });
    let model = peerlane_block::library(&config.block()).unwrap();
    let endpoint = Endpoint::with_library(&model, &config, &socket).unwrap();
    let device = vfio_user("slot0", "board", &socket);
    let mut outside = Outside::new(endpoint.handle(), device.clone(), None);

    let mut files = Initramfs::new(&qemu).unwrap();
    for program in ["peerlane", "peerlane-guest"] {
        let program = stripped(program, work.path());
        files.shared_program(&program).unwrap();
    }
    files
        .debian_program(&signer.system, "usr/bin/mokutil")
        .unwrap();
    for name in ["unsigned", "other", "signed"] {
        let module = signer.made(&format!("srv/{name}.ko"));
        files.module(&module).unwrap();
    }
    let certificate = fs::read(signer.made("var/lib/dkms/mok.pub")).unwrap();
    files.file("/srv/mok.pub", &certificate).unwrap();
    let description = config.description("simulated");
    files
        .file("/srv/peerlane.board", description.as_bytes())
        .unwrap();
    files.loaded_modules(&modules).unwrap();
    let ids = &config.ids;
    files.script(&format!(
        "board_id='{:#06x} {:#06x}'\npassword={PASSWORD}\n{STEPS}",
        ids.vendor, ids.device
    ));

    let machine = Machine::new(&qemu, &kernel, files)
        .secure_boot(&firmware)
        .reboots()
        .cpus(2)
        .memory(2048)
        .iommu()
        .slots(2)
        .shared_memory("slot1", "gpu", &vram, VRAM)
        .device(device)
        .deadline(Duration::from_secs(1800))
        // The MOK manager, which comes up once, after the request.
        .answer("Press any key to perform MOK management", &["ret"])
        .answer("Enroll MOK", &["down", "ret"])
        .answer("View key", &["down", "ret"])
        .answer("Enroll the key(s)?", &["down", "ret"])
        .answer("Password:", &TYPED)
        .answer("Reboot", &["ret"]);
    let ended = machine
        .start()
        .and_then(|vm| vm.run(|qmp, request: Request| outside.answer(qmp, &request)));
    let log = ended.unwrap_or_else(|error| panic!("{error}"));
    println!("{}", log.console());
    for step in ["refused, and the request made", "enrolled and accepted"] {
        assert!(log.console().contains(step), "{step}");
    }
    well_used(&endpoint, &config, &log);
}
