#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Makes a directory that modules in Rust are built against.
#
# The header packages of distributions do not have the compiled crates (`rust/*.rmeta`) that a
# module in Rust needs. This script compiles them from the kernel's own source, with the kernel's
# configuration and compilers; the result is the same. This is checked: Rust's symbol names contain
# a hash of the crate's source, so the exported symbols must be those of the kernel.
#
# Usage: metadata.sh HEADERS OUT [WORK]
#   HEADERS  the kernel's build directory: /lib/modules/RELEASE/build
#   OUT      the directory that is made: links to all entries of HEADERS, and the metadata. If it
#            exists and is of the same kernel and compilers, nothing is done.
#   WORK     a directory for the source and its build, which stay there. Without it they are next
#            to OUT (600 MB), and are removed.
# PEERLANE_LINUX_SOURCE names the archive of the kernel's source. The default is the archive of
# Debian's package linux-source-SERIES.
set -eu
export LC_ALL=C
say() { echo "peerlane: $*"; }
die() {
	printf 'peerlane: %s\n' "$@" >&2
	exit 1
}

headers=$(readlink -f "$1") && [ -d "$headers" ] ||
	die "there is no $1" "Install the headers of this kernel (Debian: linux-headers-RELEASE)."
out=$2
mkdir -p "$(dirname "$out")"

# Compilers that built the kernel. The names are the kernel's own (init/Kconfig).
configured() { sed -n "s/^CONFIG_$1=\"\(.*\)\"\$/\1/p" "$headers/.config"; }
same() {
	[ "$2" = "$3" ] || die "this kernel's $1 is '$2', but PATH has '$3'" \
		"Install the distribution's package $1, and let PATH find it before any other."
}
for option in RUST PCI_P2PDMA; do
	grep -q "^CONFIG_$option=y\$" "$headers/.config" || die "this kernel was built without CONFIG_$option" \
		"The driver needs a kernel that has it, as Debian's have."
done

if [ -e "$headers/rust/libkernel.rmeta" ]; then
	# Another compiler cannot read these crates, and its errors (E0514) have no hint.
	command -v rustc >/dev/null || die "these are missing: rustc" "On Debian: apt install rustc"
	same rustc "$(configured RUSTC_VERSION_TEXT)" "$(rustc --version)"
	say "$headers has the Rust metadata"
	[ ! -d "$out" ] || [ -L "$out" ] || rm -rf "$out"
	ln -sfnr "$headers" "$out"
	exit 0
fi

release=$(cat "$headers/include/config/kernel.release")
compiler=$(configured CC_VERSION_TEXT)
compiler=${compiler%% *}

# Programs and files that the build needs, each with the package that has it.
missing=
need() { eval "$1" >/dev/null 2>&1 || missing="$missing $2"; }
for program in bc bindgen bison flex make openssl pahole python3 rustc; do
	need "command -v $program" "$program"
done
need "command -v $compiler" "${compiler##*-gnu-}"
need "command -v xz" xz-utils
need 'ls "$(rustc --print sysroot)"/lib/rustlib/src/rust/library/core/src/lib.rs' rust-src
need "echo '#include <gelf.h>' | $compiler -E -" libelf-dev
need "echo '#include <openssl/ssl.h>' | $compiler -E -" libssl-dev
[ -z "$missing" ] ||
	die "these are missing:$missing" "On Debian packages have the same names: apt install$missing"

same rustc "$(configured RUSTC_VERSION_TEXT)" "$(rustc --version)"
same bindgen "$(configured BINDGEN_VERSION_TEXT)" "$(bindgen --version)"

# Everything that the result depends on.
origin=$({
	cat "$0" "$headers/.config" "$headers/Module.symvers"
	echo "$headers" "$out"
	rustc --version --verbose
	bindgen --version
} | sha256sum)
if [ "$(cat "$out/peerlane-origin" 2>/dev/null)" = "$origin" ]; then
	say "$out is current"
	exit 0
fi

series=$(echo "$release" | cut -d . -f 1,2)
source=${PEERLANE_LINUX_SOURCE:-/usr/src/linux-source-$series.tar.xz}
[ -f "$source" ] || die "there is no $source" \
	"Install the kernel's source (Debian: apt install linux-source-$series)," \
	"or name its archive in PEERLANE_LINUX_SOURCE."

# Files of an interrupted run are removed.
new=$out.new
work=${3:-}
rm -rf "$new"
if [ -z "$work" ]; then
	work=$out.work
	rm -rf "$work"
	trap 'rm -rf "$new" "$work"' EXIT
else
	trap 'rm -rf "$new"' EXIT
fi
trap 'exit 1' HUP INT TERM

say "unpacking $source"
mkdir -p "$work/source" "$work/build"
top=$(tar -tf "$source" 2>/dev/null | head -n 1 | cut -d / -f 1)
# Most of the source is left out, because the metadata does not depend on it.
XZ_DEFAULTS=-T0 tar -xf "$source" -C "$work/source" --strip-components=1 --anchored --wildcards \
	--exclude="$top/Documentation/*/*" \
	--exclude="$top/arch/*/boot/dts" \
	--exclude="$top/arch/[!x]*/*.[chS]" \
	--exclude="$top/drivers/[!p]*.c" \
	--exclude="$top/drivers/gpu/drm/*.h" \
	--exclude="$top/drivers/p[!c]*.c" \
	--exclude="$top/fs/*.[ch]" \
	--exclude="$top/net/*.[ch]" \
	--exclude="$top/sound/*.[ch]" \
	--exclude="$top/tools/perf" \
	--exclude="$top/tools/testing" \
	--exclude="$top/virt/*.c"
version=$(sed -n 's/^\(VERSION\|PATCHLEVEL\|SUBLEVEL\) = //p' "$work/source/Makefile" | paste -sd .)
case $release in
"$version"[!0-9]* | "$version") ;;
*) die "$source is Linux $version, the kernel is $release" \
	"Bring both packages to the same version: apt install linux-source-$series linux-headers-$release" ;;
esac

build() {
	# Without KBUILD_BUILD_USER and KBUILD_BUILD_HOST the build would ask the system for both names.
	env -u MAKEFLAGS -u MFLAGS make -s -C "$work/source" O="$work/build" \
		ARCH=x86 KERNELRELEASE="$release" CROSS_COMPILE="${compiler%gcc*}" \
		CC="$compiler" HOSTCC="$compiler" \
		KBUILD_BUILD_USER=peerlane KBUILD_BUILD_HOST=peerlane "$@"
}
say "configuring as the kernel"
cp "$headers/.config" "$work/build/.config"
build olddefconfig
difference=$(diff "$headers/.config" "$work/build/.config") ||
	die "the compilers are not those of the kernel; its configuration changes:" "$difference"

say "compiling Rust's part of the kernel"
build -j"$(nproc)" prepare

sed -n 's/^EXPORT_SYMBOL_RUST_GPL(\(.*\));$/\1/p' "$work"/build/rust/exports_*_generated.h |
	sort -u >"$work/ours"
# Mangled names of Rust, and the helpers in C that the crate `kernel` calls.
awk '$2 ~ /^(_R|rust_)/ { print $2 }' "$headers/Module.symvers" | sort -u >"$work/theirs"
[ -s "$work/ours" ] && cmp -s "$work/ours" "$work/theirs" ||
	die "of the kernel's $(wc -l <"$work/theirs") Rust symbols $(comm -3 "$work/ours" "$work/theirs" | wc -l) come out differently" \
		"$source is not the source of $release as it is in $headers."

# HEADERS belongs to a package and is not changed.
mkdir -p "$new/scripts" "$new/rust"
for entry in "$headers"/* "$headers"/.[!.]*; do
	case ${entry##*/} in
	Makefile | rust | scripts) ;;
	*) ln -sr "$entry" "$new" ;;
	esac
done
sed "s|^KBUILD_OUTPUT=.*|KBUILD_OUTPUT=$out|" "$headers/Makefile" >"$new/Makefile"
grep -q "^KBUILD_OUTPUT=$out\$" "$new/Makefile" ||
	die "$headers/Makefile is not of the kind that Debian's headers have"
ln -sr "$headers"/scripts/* "$new/scripts"
cp "$work/build/scripts/target.json" "$new/scripts"
cp "$work"/build/rust/lib*.rmeta "$work"/build/rust/lib*.so "$new/rust"
echo "$origin" >"$new/peerlane-origin"
rm -rf "$out"
mv -T "$new" "$out"
say "$out is made"
