#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Prints a definition for each line of the file `probes` that compiles.
# Usage: probe.sh PROBES COMPILER FLAGS...
set -eu
probes=$1
shift
flags="-w -Werror=implicit-function-declaration -Werror=int-conversion -fsyntax-only -x c -"
# HEADER STATEMENT
try() {
	header=$1 statement=$2
	shift 2
	printf '#include <%s>\nvoid probe(void);\nvoid probe(void) { %s; }\n' "$header" "$statement" |
		"$@" $flags
}
# The test itself: a wrong flag must not look like a kernel that lacks everything.
try linux/slab.h 'kfree(NULL)' "$@" || {
	echo "peerlane: the compiler cannot read this kernel's headers" >&2
	exit 1
}
if try linux/slab.h 'peerlane_none(NULL)' "$@" 2>/dev/null; then
	echo "peerlane: the compiler accepts a function that this kernel does not have" >&2
	exit 1
fi
grep '^[A-Z]' "$probes" | while read -r name header statement; do
	if try "$header" "$statement" "$@" 2>/dev/null; then
		echo "#define PEERLANE_HAS_$name"
	fi
done
