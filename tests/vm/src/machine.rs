//! Description of a machine.

use std::{
    collections::VecDeque,
    env,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use peerlane_tools::{Firmware, Flavour, Kernel, Qemu, ShippedKernel};
use serde_json::{Value, json};

use crate::{Initramfs, Result, disk, files::Files};

/// Environment variable that names the accelerator.
const ACCELERATOR: &str = "PEERLANE_ACCEL";
/// Time that QEMU waits for a reply of a device that another process serves, in milliseconds. A model that is
/// single-stepped is slow; a test of a device that hangs sets its own time.
const REPLY_MS: u32 = 60_000;

/// A kernel that a machine boots.
#[derive(Debug)]
pub struct Image {
    vmlinuz: PathBuf,
    /// The factor by which it is slower than a kernel without checks.
    slower: u32,
}

impl From<&Kernel> for Image {
    fn from(kernel: &Kernel) -> Self {
        Self {
            vmlinuz: kernel.vmlinuz(),
            slower: match kernel.flavour() {
                Flavour::Debian | Flavour::Released | Flavour::Previous => 1,
                Flavour::Locks => 2,
                Flavour::Memory => 3,
            },
        }
    }
}

impl From<&ShippedKernel> for Image {
    fn from(kernel: &ShippedKernel) -> Self {
        Self {
            vmlinuz: kernel.vmlinuz(),
            slower: 1,
        }
    }
}

/// A machine before it starts: a PC with PCIe (QEMU's `q35`).
#[derive(Debug)]
pub struct Machine {
    qemu: Qemu,
    image: Image,
    files: Initramfs,
    memory_mib: u32,
    cpus: u32,
    processor: &'static str,
    iommu: bool,
    reboots: bool,
    slots: u8,
    objects: Vec<Value>,
    devices: Vec<Value>,
    parameters: Vec<String>,
    expected: Vec<String>,
    deadline: Duration,
    firmware: Option<Firmware>,
    steps: VecDeque<Step>,
}

/// A step of a user in front of the machine.
#[derive(Debug)]
pub(crate) enum Step {
    /// Waits until the console shows a text.
    Sees(String),
    /// Presses a key.
    Presses(&'static str),
}

/// The parts of a description that a running machine needs.
pub(crate) struct Parts {
    pub(crate) archive: Vec<u8>,
    /// The complaints of the kernel that are expected.
    pub(crate) expected: Vec<String>,
    pub(crate) deadline: Duration,
    pub(crate) steps: VecDeque<Step>,
}

impl Machine {
    /// Makes a machine with one processor and 1 GiB of memory, no slots, and a time limit of two minutes.
    pub fn new(qemu: &Qemu, kernel: impl Into<Image>, files: Initramfs) -> Self {
        Self {
            qemu: qemu.clone(),
            image: kernel.into(),
            files,
            memory_mib: 1024,
            cpus: 1,
            // With this processor the kernel lets any two devices reach each other.
            processor: "EPYC",
            iommu: false,
            reboots: false,
            slots: 0,
            objects: Vec::new(),
            devices: Vec::new(),
            parameters: Vec::new(),
            expected: Vec::new(),
            deadline: Duration::from_secs(120),
            firmware: None,
            steps: VecDeque::new(),
        }
    }

    /// Sets the memory, in MiB.
    #[must_use]
    pub fn memory(mut self, mib: u32) -> Self {
        self.memory_mib = mib;
        self
    }

    /// Sets the number of processors.
    #[must_use]
    pub fn cpus(mut self, cpus: u32) -> Self {
        self.cpus = cpus;
        self
    }

    /// Sets a processor with which the kernel does not know that devices reach each other, unless a switch is between
    /// them (`cpu_supports_p2pdma` and `pci_p2pdma_whitelist` in Linux' `drivers/pci/p2pdma.c`).
    #[must_use]
    pub fn devices_apart(mut self) -> Self {
        self.processor = "Haswell";
        self
    }

    /// Puts an IOMMU between devices and memory, which the kernel uses for every mapping, and for interrupts.
    #[must_use]
    pub fn iommu(mut self) -> Self {
        self.iommu = true;
        self
    }

    /// Lets the machine start again when it is reset. Otherwise a reset, such as that of a panic, ends it.
    #[must_use]
    pub fn reboots(mut self) -> Self {
        self.reboots = true;
        self
    }

    /// Adds a PCIe switch with slots, the buses `slot0`, `slot1` and so on. Its ports are devices of the same names.
    #[must_use]
    pub fn slots(mut self, slots: u8) -> Self {
        self.slots = slots;
        self
    }

    /// Adds a device whose BAR 2 is `file`, shared with all other processes that map it: QEMU's `ivshmem-plain`.
    /// `bytes` is a power of two, and the file's length; the file is created when missing.
    #[must_use]
    pub fn shared_memory(mut self, bus: &str, id: &str, file: &Path, bytes: u64) -> Self {
        let memory = format!("{id}-memory");
        self.objects.push(json!({
            "qom-type": "memory-backend-file", "id": memory, "mem-path": file, "size": bytes,
            "share": true,
        }));
        self.device(json!({ "driver": "ivshmem-plain", "id": id, "bus": bus, "memdev": memory }))
    }

    /// Adds any device, as QEMU takes it: `{"driver": …, "id": …, "bus": "slot0"}`.
    #[must_use]
    pub fn device(mut self, device: Value) -> Self {
        self.devices.push(device);
        self
    }

    /// Adds a parameter of the kernel's.
    #[must_use]
    pub fn parameter(mut self, parameter: &str) -> Self {
        self.parameters.push(parameter.to_owned());
        self
    }

    /// Adds a text in the kernel's log that is not a complaint in this test, because the test provokes it.
    #[must_use]
    pub fn expect(mut self, text: &str) -> Self {
        self.expected.push(text.to_owned());
        self
    }

    /// Sets the time from the machine's start until it is off. A kernel with checks gets a multiple.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Boots as a computer with Secure Boot does: the firmware starts shim and GRUB from a disk, and GRUB the kernel.
    /// The firmware stores its variables until the machine is off.
    #[must_use]
    pub fn secure_boot(mut self, firmware: &Firmware) -> Self {
        self.firmware = Some(firmware.clone());
        self
    }

    /// Waits until the console shows `text`, after that of the answer before, and then presses keys, by QEMU's names of
    /// them (`QKeyCode` in its QMP reference).
    #[must_use]
    pub fn answer(mut self, text: &str, keys: &[&'static str]) -> Self {
        self.steps.push_back(Step::Sees(text.to_owned()));
        self.steps.extend(keys.iter().map(|key| Step::Presses(key)));
        self
    }

    /// Takes the machine apart.
    pub(crate) fn into_parts(self) -> Result<Parts> {
        Ok(Parts {
            deadline: self.deadline * self.image.slower,
            archive: self.files.finish()?,
            expected: self.expected,
            steps: self.steps,
        })
    }

    /// Whether it boots from a disk.
    pub(crate) fn has_disk(&self) -> bool {
        self.firmware.is_some()
    }

    /// Makes the files of the disk, without the initramfs, and those of the firmware.
    pub(crate) fn fill_disk(&self, files: &Files) -> Result<()> {
        match &self.firmware {
            None => Ok(()),
            Some(firmware) => disk::fill(
                firmware,
                &self.image.vmlinuz,
                &self.kernel_parameters(),
                files,
            ),
        }
    }

    /// Returns the command that starts the machine.
    pub(crate) fn command(&self, files: &Files) -> Command {
        let mut command = self.qemu.command();
        let accelerator = env::var(ACCELERATOR).unwrap_or_else(|_| "tcg".to_owned());
        command
            .args(["-machine", &self.kind()])
            // Shared, for devices of other processes.
            .args([
                "-object",
                &format!(
                    "memory-backend-memfd,id=memory,size={}M,share=on",
                    self.memory_mib
                ),
            ])
            .args(["-m", &format!("{}M", self.memory_mib)])
            .args(["-smp", &self.cpus.to_string()])
            .args(["-cpu", self.processor, "-accel", &accelerator])
            .args(["-nodefaults", "-nographic", "-no-user-config"])
            .args([
                "-chardev",
                &format!("file,id=console,path={}", option(&files.console)),
            ])
            .args([
                "-chardev",
                &format!("socket,id=control,path={}", option(&files.control)),
            ])
            .args(["-serial", "chardev:console"])
            .args(["-qmp", &format!("unix:{}", option(&files.qmp))])
            // Accesses of processors that no device takes.
            .args(["-d", "invalid_mem", "-D"])
            .arg(&files.unanswered)
            // Hot-plug as PCIe does it, for which the slots have registers.
            .args([
                "-global",
                "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off",
            ]);
        match &self.firmware {
            Some(firmware) => disk::options(&mut command, firmware, files),
            None => {
                command
                    .arg("-kernel")
                    .arg(&self.image.vmlinuz)
                    .arg("-initrd")
                    .arg(&files.initramfs)
                    .args(["-append", &self.kernel_parameters()]);
            }
        }
        command.args(["-serial", "chardev:control"]);
        if !self.reboots {
            command.arg("-no-reboot");
        }
        // Before the devices that use it.
        if self.iommu {
            command.args(["-device", "intel-iommu,caching-mode=on,intremap=on"]);
        }
        for object in &self.objects {
            command.arg("-object").arg(object.to_string());
        }
        for device in self.switch().iter().chain(&self.devices) {
            command.arg("-device").arg(device.to_string());
        }
        command
    }

    /// Returns the type of the machine. The IOMMU maps interrupts only of a chip that the accelerator does not emulate.
    fn kind(&self) -> String {
        let chip = if self.iommu {
            ",kernel-irqchip=split"
        } else {
            ""
        };
        let firmware = if self.has_disk() { disk::KIND } else { "" };
        format!("q35,memory-backend=memory{chip}{firmware}")
    }

    /// Returns the kernel's parameters: warnings and worse are shown from the start, and an oops ends the machine.
    fn kernel_parameters(&self) -> String {
        let mut parameters = vec!["console=ttyS0", "loglevel=5", "oops=panic", "panic=-1"];
        // On a busy host an emulated processor may see no tick of the timer during the time in which the kernel looks
        // for one.
        parameters.push("no_timer_check");
        if self.iommu {
            parameters.extend(["intel_iommu=on", "iommu.strict=1"]);
        }
        if self.has_disk() {
            parameters.push(disk::CONTROL);
        }
        parameters.extend(self.parameters.iter().map(String::as_str));
        parameters.join(" ")
    }

    fn switch(&self) -> Vec<Value> {
        if self.slots == 0 {
            return Vec::new();
        }
        let mut ports = vec![
            json!({ "driver": "pcie-root-port", "id": "root", "chassis": 1, "slot": 0 }),
            json!({ "driver": "x3130-upstream", "id": "switch", "bus": "root" }),
        ];
        ports.extend((0..self.slots).map(|slot| {
            json!({
                "driver": "xio3130-downstream", "id": format!("slot{slot}"), "bus": "switch",
                "chassis": 2, "slot": slot,
            })
        }));
        ports
    }
}

/// Makes a device, for [`Machine::device`], that the process listening at `socket` serves by the vfio-user protocol.
#[must_use]
pub fn vfio_user(bus: &str, id: &str, socket: &Path) -> Value {
    json!({
        "driver": "vfio-user-pci", "id": id, "bus": bus, "x-msg-timeout": REPLY_MS,
        "socket": { "type": "unix", "path": socket },
    })
}

/// Returns a path in the form for QEMU's comma-separated options.
fn option(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}
