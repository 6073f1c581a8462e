#!/bin/sh
# `aocl` runs this as the platform's `{{ name }}` (../../board_env.xml, utilbindir). It runs peerlane-aocl, which belongs
# into the same directory: README.md explains how to build it. Links to this file work, too.
file=$(readlink -f -- "$0") || exit 1
here=${file%/*}
if [ ! -x "$here/peerlane-aocl" ]; then
  echo "{{ name }}: $here/peerlane-aocl does not exist. In Peerlane's sources: cargo build --release -p \
peerlane-utilities; then copy target/release/peerlane-aocl there." >&2
  exit 1
fi
exec "$here/peerlane-aocl" --platform "$here/../.." {{ command }} "$@"
