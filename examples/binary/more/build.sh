#!/bin/sh
# Builds the programs here into a directory, as ../build.sh does: CC=clang CXX=clang++
# FLAGS=-O1 build.sh dir. Each says in its first comment whether a lock can fix it.
set -eu
cd "$(dirname "$0")"
out=$1
mkdir -p "$out"
for source in *.c *.cc; do
	name=${source%.*}
	compiler=${CC:-gcc}
	[ "${source##*.}" = c ] || compiler=${CXX:-g++}
	for level in ${FLAGS:--O0 -O2}; do
		"$compiler" "$level" -pthread -s -Wl,--build-id -o "$out/$name.${level#-}" "$source"
	done
done
