//! Reasons why a driver is not loaded: not built for this kernel, not signed, or excluded.

use super::Finding;
use std::fs;
use std::path::{Path, PathBuf};

const ABOUT: &str = "driver";

/// The oldest series of kernels for which the driver builds: `BUILD_EXCLUSIVE_KERNEL` of `driver/dkms.conf`.
const OLDEST: (u32, u32) = (6, 12);

/// Kernel options without which the driver does not build: `BUILD_EXCLUSIVE_CONFIG` there.
const OPTIONS: [&str; 3] = ["CONFIG_PCI", "CONFIG_DMA_SHARED_BUFFER", "CONFIG_FW_LOADER"];

/// Directories from which modprobe reads its configuration (modprobe.d(5)).
const MODPROBE: [&str; 5] = [
    "etc/modprobe.d",
    "run/modprobe.d",
    "usr/local/lib/modprobe.d",
    "usr/lib/modprobe.d",
    "lib/modprobe.d",
];

/// The files of UEFI's variables.
const VARIABLES: &str = "sys/firmware/efi/efivars";

/// UEFI's variable `SecureBoot`, whose GUID is that of all global variables (UEFI Specification 2.10, 3.3).
const SECURE_BOOT: &str = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

/// Shim's variables with the certificates that users have enrolled, and with those that the MOK manager is to enrol at
/// the next start (shim's README.fallback and lib/guid.c; mokutil(1)). The first may have a number.
const ENROLLED: &str = "MokListRT";
const REQUESTED: &str = "MokNew-605dab50-e046-4300-abb6-3dd810dd8b23";

/// Certificates of the keys with which DKMS signs: its own, and on Ubuntu that of the distribution (dkms(8)).
const CERTIFICATES: [&str; 2] = ["var/lib/dkms/mok.pub", "var/lib/shim-signed/mok/MOK.der"];

/// Text at the end of a signed module (the kernel's include/linux/module_signature.h).
const SIGNED: &[u8] = b"~Module signature appended~\n";

fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// Finds the reason why the driver is not loaded, as far as the files below `root` show it.
pub(super) fn why(root: &Path) -> Finding {
    let Some(release) = text(&root.join("proc/sys/kernel/osrelease")) else {
        return Finding::wrong(
            ABOUT,
            "the driver peerlane is not loaded",
            "Install it (step 6 of the platform's README.md), then modprobe peerlane. dmesg | grep peerlane shows why a board was refused.",
        );
    };
    let modules = root.join("lib/modules").join(&release);
    match module(&modules) {
        None => not_built(root, &release, &modules),
        Some(file) => not_loaded(root, &file),
    }
}

/// Finds the module's file for a kernel, where DKMS and `make modules_install` put it.
fn module(modules: &Path) -> Option<PathBuf> {
    ["updates/dkms", "updates", "extra"]
        .iter()
        .find_map(|directory| {
            let all = files(&modules.join(directory)).into_iter();
            let mut ours = all.filter(|file| {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                // Uncompressed or compressed.
                name == "peerlane.ko" || name.starts_with("peerlane.ko.")
            });
            ours.next()
        })
}

/// Returns the first two numbers of a kernel's release.
fn series(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
    let mut number = || numbers.next()?.parse().ok();
    Some((number()?, number()?))
}

fn not_built(root: &Path, release: &str, modules: &Path) -> Finding {
    if series(release).is_some_and(|series| series < OLDEST) {
        let (major, minor) = OLDEST;
        return Finding::wrong(
            ABOUT,
            format!(
                "the driver peerlane is not loaded: this kernel is {release}, and the driver builds for {major}.{minor} and later"
            ),
            "Use the board without the kernel module: peerlane bind ADDRESS. Or boot a later kernel; DKMS skips this one without a message.",
        );
    }
    let config = [
        root.join("boot").join(format!("config-{release}")),
        modules.join("build/.config"),
    ];
    if let Some(config) = config.iter().find_map(|file| fs::read_to_string(file).ok()) {
        let has = |option: &str| {
            (config.lines()).any(|line| {
                line.strip_prefix(option)
                    .is_some_and(|value| value == "=y" || value == "=m")
            })
        };
        let missing: Vec<_> = (OPTIONS.into_iter())
            .filter(|option| !has(option))
            .collect();
        if !missing.is_empty() {
            return Finding::wrong(
                ABOUT,
                format!(
                    "the driver peerlane is not loaded: this kernel, {release}, was built without {}",
                    missing.join(" and ")
                ),
                "Boot a kernel with these options, such as Debian's.",
            );
        }
    }
    let known = files(&root.join("var/lib/dkms/peerlane"));
    let version = known.iter().find(|version| version.join("source").exists());
    match version.or(known.first()) {
        Some(version) => {
            let version = version.file_name().unwrap_or_default().to_string_lossy();
            Finding::wrong(
                ABOUT,
                format!(
                    "the driver peerlane is not loaded: DKMS has its source, but no module for this kernel, {release}"
                ),
                format!(
                    "As root: dkms install peerlane/{version} -k {release}, with linux-headers-{release} installed. Errors of the build are in /var/lib/dkms/peerlane/{version}/build/make.log."
                ),
            )
        }
        None => Finding::wrong(
            ABOUT,
            format!(
                "the driver peerlane is not loaded: it is not installed for this kernel, {release}"
            ),
            "Install it (step 6 of the platform's README.md), then modprobe peerlane.",
        ),
    }
}

/// Returns the place where modprobe, or the kernel, is configured not to load the driver.
fn forbidden(root: &Path) -> Option<String> {
    let words = |line: &str| -> Vec<String> {
        let words = line.split_whitespace();
        words.map(|word| word.replace('-', "_")).collect()
    };
    for directory in MODPROBE {
        for file in files(&root.join(directory)) {
            let rules = fs::read_to_string(&file).unwrap_or_default();
            let forbids = |line: &str| {
                let words = words(line);
                let words: Vec<_> = words.iter().map(String::as_str).collect();
                matches!(
                    words[..],
                    ["blacklist", "peerlane"]
                        | [
                            "install",
                            "peerlane",
                            "/bin/false" | "/bin/true" | "/usr/bin/false" | "/usr/bin/true",
                            ..
                        ]
                )
            };
            if rules.lines().any(forbids) {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                return Some(format!("/{directory}/{name}"));
            }
        }
    }
    // Documentation/admin-guide/kernel-parameters.txt; the parameters of modprobe are those of kmod.
    let line = text(&root.join("proc/cmdline"))?;
    let mut parameters = line.split_whitespace();
    let parameter = parameters.find(|parameter| {
        let names = ["modprobe.blacklist=", "module_blacklist="];
        let list = names.iter().find_map(|name| parameter.strip_prefix(name));
        list.is_some_and(|list| list.split(',').any(|module| module == "peerlane"))
    })?;
    Some(format!("the kernel's command line ({parameter})"))
}

/// Whether the firmware starts signed code only. Four bytes of attributes precede a variable's value
/// (Documentation/filesystems/efivarfs.rst).
fn is_secure(root: &Path) -> bool {
    let variable = fs::read(root.join(VARIABLES).join(SECURE_BOOT)).unwrap_or_default();
    variable.get(4) == Some(&1)
}

/// Whether shim has a user's certificate.
fn is_enrolled(root: &Path, certificate: &[u8]) -> bool {
    let variables = files(&root.join(VARIABLES)).into_iter();
    let mut lists = variables.filter(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(ENROLLED)
    });
    // A certificate is in a list as it is in its file (UEFI Specification 2.10, 32.4.1).
    let has = |file: PathBuf| {
        let list = fs::read(file).unwrap_or_default();
        list.windows(certificate.len())
            .any(|part| part == certificate)
    };
    !certificate.is_empty() && lists.any(has)
}

/// Finds the reason why a kernel that loads only signed modules has not loaded this one.
fn not_trusted(root: &Path, file: &Path, module: &str) -> Finding {
    let key = (CERTIFICATES.iter()).find(|key| root.join(key).exists());
    let key = key.unwrap_or(&CERTIFICATES[0]);
    let restart = "In the MOK manager, which comes up before the system: Enroll MOK, Continue, Yes, the password, Reboot. docs/operate/secure-boot.md has the steps.";
    let enrol = format!(
        "As root: mokutil --import /{key}, with a password for once. Then restart. {restart}"
    );
    let bytes = fs::read(file).unwrap_or_default();
    // The end of a compressed module cannot be read here.
    let is_plain = file.extension().is_some_and(|extension| extension == "ko");
    if is_plain && !bytes.ends_with(SIGNED) {
        return Finding::wrong(
            ABOUT,
            format!(
                "the driver peerlane is not loaded: Secure Boot is on, and {module} is not signed"
            ),
            format!(
                "Have DKMS sign it: install openssl, then build it again (dkms install --force). {enrol}"
            ),
        );
    }
    if is_enrolled(root, &fs::read(root.join(key)).unwrap_or_default()) {
        return Finding::wrong(
            ABOUT,
            format!(
                "the driver peerlane is not loaded: {module} is installed, and Secure Boot knows the key /{key}"
            ),
            "As root: modprobe peerlane. If that reports `Key was rejected by service`, another key signed the module: build it again (dkms install --force). dmesg | grep peerlane shows why a board was refused.",
        );
    }
    if root.join(VARIABLES).join(REQUESTED).exists() {
        return Finding::wrong(
            ABOUT,
            format!(
                "the driver peerlane is not loaded: Secure Boot is on, and the key of {module} is enrolled at the next start"
            ),
            format!("Restart. {restart}"),
        );
    }
    Finding::wrong(
        ABOUT,
        format!(
            "the driver peerlane is not loaded: Secure Boot is on, and the kernel accepts {module} only if its signing key is enrolled"
        ),
        enrol,
    )
}

fn not_loaded(root: &Path, file: &Path) -> Finding {
    let module = file.strip_prefix(root).unwrap_or(file);
    let module = format!("/{}", module.display());
    if let Some(place) = forbidden(root) {
        return Finding::wrong(
            ABOUT,
            format!("the driver peerlane is not loaded: {place} forbids it"),
            "Remove that entry, then modprobe peerlane.",
        );
    }
    if is_secure(root) {
        return not_trusted(root, file, &module);
    }
    Finding::wrong(
        ABOUT,
        format!("the driver peerlane is not loaded: {module} is installed"),
        "As root: modprobe peerlane. dmesg | grep peerlane shows why a board was refused.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernels that DKMS leaves out are those that this module reports as other kernels.
    #[test]
    fn series_and_options_are_those_of_dkms() {
        let conf = include_str!("../../../driver/dkms.conf");
        assert_eq!(OLDEST, (6, 12));
        let later = r#"BUILD_EXCLUSIVE_KERNEL="^(6\.(1[2-9]|[2-9][0-9])|[7-9]|[1-9][0-9])\.""#;
        assert!(conf.contains(later));
        for (release, is_older) in [
            ("6.1.0-50-amd64", true),
            ("6.8.0-45-generic", true),
            ("5.14.0-503.el9.x86_64", true),
            ("6.12.0", false),
            ("7.3.4+deb13-amd64", false),
            ("10.0", false),
        ] {
            assert_eq!(series(release).unwrap() < OLDEST, is_older, "{release}");
        }
        let options = OPTIONS.join(" ");
        assert!(conf.contains(&format!("BUILD_EXCLUSIVE_CONFIG=\"{options}\"")));
    }
}
