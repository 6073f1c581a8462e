#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Removes the directory that metadata.sh made for a kernel.
# Usage: remove.sh RELEASE
set -eu
rm -rf "/var/lib/peerlane/${1:?}"
[ ! -d /var/lib/peerlane ] || rmdir --ignore-fail-on-non-empty /var/lib/peerlane
