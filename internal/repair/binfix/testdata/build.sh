#!/bin/sh
# Builds the programs here; the tests use what is checked in.
set -eu
cd "$(dirname "$0")"
flags="-O2 -pthread -s -Wl,-z,noseparate-code"
gcc $flags -o session ../../../../examples/binary/more/session.c
g++ $flags -o throws throws.cc
