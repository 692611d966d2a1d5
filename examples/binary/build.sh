#!/bin/sh
# Builds the programs here with gcc, without and with optimisation, and strips them: what
# is checked in below bin. Another compiler or other flags: CC=clang FLAGS=-O1 build.sh dir.
set -eu
cd "$(dirname "$0")"
out=${1:-bin}
mkdir -p "$out"
for source in *.c; do
	name=${source%.c}
	for level in ${FLAGS:--O0 -O2}; do
		${CC:-gcc} "$level" -pthread -s -Wl,--build-id -Wl,-z,noseparate-code -o "$out/$name.${level#-}" "$source"
	done
done
