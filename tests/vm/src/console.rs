//! The machine's console: the kernel's log and the output of programs.

/// Texts in a line of the kernel's log by which it complains about itself or a device, after
/// `Documentation/admin-guide` and `Documentation/dev-tools` of the kernel. Taint by modules that
/// are out of its tree or unsigned is not among them.
const COMPLAINTS: [&str; 20] = [
    "WARNING:",
    "BUG:",
    "Oops",
    "Call Trace:",
    "Kernel panic",
    "general protection fault",
    "Unable to handle",
    "KASAN:",
    "UBSAN:",
    "kmemleak:",
    "unreferenced object",
    "DMA-API:",
    "DMAR: [DMA",
    "DMAR: DRHD: handling fault",
    "possible circular locking",
    "trying to register non-static key",
    "locking correctness validator",
    "blocked for more than",
    "detected stall",
    "refcount_t:",
];

/// Output of a machine on its console until it powered off.
#[derive(Debug, Clone)]
pub struct Log {
    console: String,
    unanswered: Vec<u64>,
}

/// Text that QEMU writes before the address of an access that no device takes (`memory_region_access_valid` in its
/// `system/memory.c`).
const ADDRESS: &str = " at addr 0x";

/// First line of a report of lockdep's.
const CIRCLE: &str = "WARNING: possible circular locking dependency";

/// Reports whether a report of lockdep's is one of Linux 7.3's hot-plug driver, which takes its own lock again below
/// that of the PCI core when a slot is switched off (`pciehp_unconfigure_device` of
/// `drivers/pci/hotplug/pciehp_pci.c`), and has no frame of our module. Lockdep reports nothing more in that machine.
fn is_the_kernels_own(report: &[&str]) -> bool {
    let has = |text: &str| report.iter().any(|line| line.contains(text));
    has("pciehp_unconfigure_device") && has("pci_rescan_remove_lock") && !has("[peerlane]")
}

impl Log {
    /// Makes a log of the bytes that came out of the serial port, and of QEMU's log of invalid accesses.
    pub(crate) fn new(bytes: &[u8], invalid: &[u8]) -> Self {
        let text: String = String::from_utf8_lossy(bytes)
            .chars()
            // The firmware clears the screen; carriage returns end each line.
            .filter(|c| *c == '\n' || *c == '\t' || !c.is_control())
            .collect();
        let invalid = String::from_utf8_lossy(invalid);
        let address = |line: &str| {
            let (_, rest) = line.split_once(ADDRESS)?;
            u64::from_str_radix(rest.split(',').next()?, 16).ok()
        };
        Self {
            console: text,
            unanswered: invalid.lines().filter_map(address).collect(),
        }
    }

    /// Returns the whole console.
    pub fn console(&self) -> &str {
        &self.console
    }

    /// Returns the physical addresses that a processor accessed and no device took, for example those of a device that
    /// decodes no accesses to its memory.
    pub fn unanswered(&self) -> &[u64] {
        &self.unanswered
    }

    /// Returns its last lines, for a message, after earlier lines by which programs report that a test failed.
    pub(crate) fn end(&self) -> String {
        const LINES: usize = 80;
        let lines: Vec<&str> = self.console.lines().collect();
        let (before, last) = lines.split_at(lines.len().saturating_sub(LINES));
        let failed = before.iter().filter(|line| line.starts_with("FAIL "));
        failed.chain(last).copied().collect::<Vec<_>>().join("\n")
    }

    /// Returns the lines by which the kernel complains, without those that contain one of `expected`, and without
    /// [lockdep's reports](is_the_kernels_own) of the kernel's own code.
    pub(crate) fn complaints(&self, expected: &[String]) -> Vec<&str> {
        let lines: Vec<&str> = self.console.lines().collect();
        let mut complaints = Vec::new();
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            if line.contains(CIRCLE)
                && let Some(end) = lines[at..].iter().position(|line| line.contains("</TASK>"))
                && is_the_kernels_own(&lines[at..=at + end])
            {
                at += end;
            } else if COMPLAINTS.iter().any(|text| line.contains(text))
                && !expected.iter().any(|text| line.contains(text.as_str()))
            {
                complaints.push(*line);
            }
            at += 1;
        }
        complaints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of real logs.
    const LOG: &str = "\u{1b}[2J[    4.63] hello: loading out-of-tree module taints kernel.\r\n\
        [    4.64] hello: module verification failed: signature and/or required key missing\r\n\
        [    5.02] DMAR: [DMA Write NO_PASID] Request device [02:00.0] fault addr 0x1000\r\n\
        [    5.10] WARNING: CPU: 0 PID: 71 at drivers/base/core.c:1 f+0x1/0x2\r\n";

    #[test]
    fn a_failure_long_before_the_end_is_told() {
        let text = format!("hello\nFAIL a.test: why (3 ms)\n{}", "noise\n".repeat(100));
        let end = Log::new(text.as_bytes(), b"").end();
        assert!(end.starts_with("FAIL a.test: why (3 ms)\nnoise\n"));
        assert_eq!(end.lines().count(), 81);
    }

    #[test]
    fn complaints_are_found_and_taint_is_none() {
        let log = Log::new(LOG.as_bytes(), b"");
        assert!(log.console().starts_with("[2J[    4.63] hello"));
        assert_eq!(log.complaints(&[]).len(), 2);
        let rest = log.complaints(&["DMAR".to_owned()]);
        assert!(
            rest.len() == 1 && rest[0].contains("WARNING: CPU"),
            "{rest:?}"
        );
        assert!(
            log.complaints(&["DMAR".to_owned(), "core.c".to_owned()])
                .is_empty()
        );
    }

    /// Lines of a real report, shortened.
    #[test]
    fn a_report_of_the_hot_plug_driver_alone_is_not_ours() {
        let report = "[   28.2] WARNING: possible circular locking dependency detected\n\
            [   28.2] irq/25-pciehp/41 is trying to acquire lock:\n\
            [   28.2] -> #1 (pci_rescan_remove_lock){+.+.}-{4:4}:\n\
            [   28.2]        pciehp_unconfigure_device+0x34/0x100\n\
            [   28.2] Call Trace:\n\
            [   28.2]  FRAME\n\
            [   28.2]  </TASK>\n\
            [   29.0] BUG: another\n";
        let complaints = |frame: &str| {
            let text = report.replace("FRAME", frame);
            Log::new(text.as_bytes(), b"").complaints(&[]).len()
        };
        assert_eq!(complaints("pciehp_ist+0x167/0x1c0"), 1);
        assert_eq!(complaints("remove+0x16/0x20 [peerlane]"), 3);
    }

    #[test]
    fn accesses_that_nobody_took() {
        // Of QEMU 11.1.
        let invalid =
            b"Invalid write at addr 0xFE020040, size 4, region '(null)', reason: rejected\n\
            Invalid read at addr 0x7A0, size 1, region 'x', reason: invalid size (min:2 max:4)\n\
            something else\n";
        assert_eq!(Log::new(b"", invalid).unanswered(), [0xFE02_0040, 0x7A0]);
    }
}
