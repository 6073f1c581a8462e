#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Says what is missing where a kernel's build directory cannot build Rust modules.
# Usage: dkms-check.sh BUILD_DIRECTORY
set -eu
for crate in core kernel bindings; do
	if [ ! -f "$1/rust/lib$crate.rmeta" ]; then
		cat >&2 <<END
peerlane: $1 has no Rust metadata (rust/lib$crate.rmeta).
Debian's header packages come without it. \`cargo xtask driver\` in Peerlane's sources makes it
from the kernel's own source package and builds the module with it.
END
		exit 1
	fi
done
