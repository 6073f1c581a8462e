//! Tests the packages for Debian on clean systems: installed, used, upgraded, removed.

use peerlane_tools::{Cache, Release};

use super::User;

/// Packages of Debian that users of all packages have.
const NEEDED: [&str; 6] = [
    "gcc",
    "gzip",
    "libc6-dev",
    "pkgconf",
    "python3",
    "systemd-standalone-sysusers",
];
/// Those for the driver's package.
const NEEDED_BY_DRIVER: [&str; 6] = ["bindgen", "dkms", "libelf-dev", "make", "rust-src", "rustc"];

/// Lists all files but dpkg's own, those that Debian's Python makes when it first runs, and those of the group, which stays, as Debian's policy has it for groups that a
/// package has made: files may belong to it.
const FILES: &str = "find / -xdev -not -path '/var/lib/dpkg/*' -not -path '/var/log/*' \
    -not -path '/etc/group*' -not -path '/etc/gshadow*' -not -path '/etc/.pwd.lock' \
    -not -path '/usr/lib/python3.*/__pycache__*' -not -path '/usr/share/python3/*/__pycache__*'";

/// Checks that there is no file that was not there before. (The system's dpkg does not know which directories other
/// packages share.)
fn nothing_is_left(user: &User, before: &str) {
    let before: std::collections::HashSet<_> = before.lines().collect();
    let now = user.does(FILES);
    let left: Vec<_> = now.lines().filter(|file| !before.contains(file)).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Installs the packages that `packages` matches over an earlier version, uses them, and removes them.
fn used_and_removed(release: Release, needed: &[&str], packages: &str, in_use: &str) {
    let cache = Cache::open().unwrap();
    let user = User::of(cache.installed_system(release, needed).unwrap());
    let before = user.does(FILES);

    // An earlier version, with a file that there is no more.
    user.does(&format!(
        "mkdir /old; cd /mnt; for deb in {packages}; do\n\
           dpkg-deb -R $deb /tmp/package\n\
           version=$(dpkg-deb -f $deb Version); name=$(dpkg-deb -f $deb Package)\n\
           sed -i \"s/$version/0.0.9-1/\" /tmp/package/DEBIAN/control\n\
           echo old > /tmp/package/usr/share/$name.old\n\
           dpkg-deb -Znone -b /tmp/package /old; rm -r /tmp/package\n\
         done\n\
         dpkg --install /old/*.deb; ls /usr/share/*.old; rm -r /old"
    ));
    user.does(&format!("cd /mnt; dpkg --install {packages}"));
    user.does("! ls /usr/share/*.old 2>/dev/null; test -z \"$(dpkg --verify)\"");
    user.does(
        "version=$(dpkg-query -W -f '${Version}' peerlane)\n\
         case $version in *git*) dpkg --compare-versions $version lt 0.1.0-1;; esac",
    );

    let version = user.does("! command -v c++; peerlane --version");
    let expected = concat!("peerlane ", env!("CARGO_PKG_VERSION"));
    assert!(version.starts_with(expected), "{version}");
    user.does("peerlane doctor --simulated && grep -q ^peerlane: /etc/group");
    user.does(
        "zcat /usr/share/man/man1/peerlane-extend.1.gz | grep -q -e --bsp\n\
         bash -c '. /usr/share/bash-completion/completions/peerlane; complete -p peerlane'",
    );
    user.does(
        "export PEERLANE_DEVICE=simulated; cd /tmp; example=/usr/share/doc/libpeerlane-dev/examples/hello.c\n\
         gcc -o shared $example $(pkg-config --cflags --libs libpeerlane); ./shared\n\
         gcc -o static $example /usr/lib/x86_64-linux-gnu/libpeerlane.a -lm; ! ldd static | grep peerlane\n\
         python3 -B /mnt/examples/01-hello/hello.py",
    );
    user.does(in_use);

    let names = "$(dpkg-query -W -f '${Package}\\n' | grep peerlane)";
    user.does(&format!("dpkg --remove {names}"));
    nothing_is_left(&user, &before);
    user.does(&format!(
        "! dpkg-query -W -f '${{Package}}\\n' | grep peerlane || dpkg --purge {names}"
    ));
    nothing_is_left(&user, &before);
}

#[test]
#[ignore = "external tools: cargo xtask test dist"]
fn debian_12() {
    let packages = "libpeerlane*.deb peerlane_*.deb peerlane-opencl*.deb python3*.deb";
    used_and_removed(Release::Bookworm, &NEEDED, packages, ":");
}

/// The driver needs a compiler that Debian 12 does not have.
#[test]
#[ignore = "external tools: cargo xtask test dist"]
fn debian_13() {
    let needed = [&NEEDED[..], &NEEDED_BY_DRIVER].concat();
    let added =
        "dkms status | grep '^peerlane/0.1.0: added'; test -e /usr/src/peerlane-0.1.0/dkms.conf";
    used_and_removed(Release::Trixie, &needed, "*.deb", added);
}
