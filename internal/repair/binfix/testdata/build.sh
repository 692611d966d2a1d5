#!/bin/sh
# Builds the programs here; the tests use what is checked in.
set -eu
cd "$(dirname "$0")"
flags="-O2 -pthread -s -Wl,-z,noseparate-code"
gcc $flags -o session ../../../../examples/binary/more/session.c
g++ $flags -o throws throws.cc
gcc $flags -o logout logout.c
musl-gcc -O2 -static -pthread -s -o logout.static logout.c
gcc $flags -O1 -o accessors accessors.c
