#!/bin/sh
# Builds the programs here; the tests use what is checked in.
set -eu
cd "$(dirname "$0")"
for level in O0 O2; do
	g++ -$level -pthread -s -Wl,-z,noseparate-code -o exceptions.$level exceptions.cc
done
musl-gcc -O1 -s -Wl,-z,noseparate-code -o empty.musl empty.c
