#!/bin/sh
# Builds the programs here; the tests use what is checked in.
set -eu
cd "$(dirname "$0")"
for source in *.c; do
	gcc -O1 -pthread -s -Wl,-z,noseparate-code -o "${source%.c}" "$source"
done
