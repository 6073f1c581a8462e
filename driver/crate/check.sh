#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks whether the driver can be built for a kernel, before anything is compiled.
# Usage: check.sh CONFIG RUSTC BINDGEN
#   CONFIG  the kernel's configuration (include/config/auto.conf of its build directory)
set -eu
export LC_ALL=C
config=$1 rustc=$2 bindgen=$3
die() {
	printf 'peerlane: %s\n' "$@" >&2
	exit 1
}
on() { grep -q "^CONFIG_$1=[ym]\$" "$config"; }

on X86_64 || die "this kernel is not for x86-64, the only processors that the driver is written for"
for option in DMA_SHARED_BUFFER FW_LOADER MMU_NOTIFIER PCI_MSI; do
	on "$option" || die "this kernel was built without CONFIG_$option" "The driver needs a kernel that has it."
done
# What C and Rust would not agree on.
if on CFI_CLANG || on CFI; then
	on RUST || die "this kernel checks calls (CONFIG_CFI), and without CONFIG_RUST its C code does not have the form of types that Rust has" \
		"Use a kernel without this option, or VFIO: peerlane bind"
fi
for option in RANDSTRUCT_FULL RANDSTRUCT_PERFORMANCE GCC_PLUGIN_RANDSTRUCT; do
	! on "$option" || die "this kernel has structures with a random order of members (CONFIG_$option), which Rust's bindings do not have" \
		"Use a kernel without this option, or VFIO: peerlane bind"
done
! on LTO_CLANG || die "this kernel was built with CONFIG_LTO_CLANG, which was never tried with the driver" \
	"Use a kernel without this option, or VFIO: peerlane bind"

# Programs, each with Debian's package that has it.
missing=
need() { eval "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need 'command -v "$rustc"' rustc
need 'command -v "$bindgen"' bindgen
need '[ -e "$("$rustc" --print sysroot)/lib/rustlib/src/rust/library/core/src/lib.rs" ]' rust-src
[ -z "$missing" ] || die "these are missing:$missing" "On Debian packages have the same names: apt install$missing"

# PROGRAM OLDEST PACKAGE
at_least() {
	found=$("$1" --version 2>/dev/null | sed -n 's/^[a-z]* \([0-9]*\.[0-9]*\).*/\1/p')
	[ -n "$found" ] || die "$1 does not report its version"
	oldest=$(printf '%s\n%s\n' "$2" "$found" | sort -V | head -n 1)
	[ "$oldest" = "$2" ] || die "$1 is version $found, but $2 or later is needed" \
		"Install a later $3 and let PATH find it first; or use VFIO, which needs no module: peerlane bind"
}
at_least "$rustc" 1.85 rustc
at_least "$bindgen" 0.71 bindgen
