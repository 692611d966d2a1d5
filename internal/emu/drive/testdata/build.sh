#!/bin/sh
# Builds the programs here; the tests use what is checked in. One of them keeps its debug
# information.
set -eu
cd "$(dirname "$0")"
for source in *.c; do
	strip=-s
	[ "$source" = races.c ] && strip=-g
	gcc -O1 -pthread $strip -Wl,-z,noseparate-code -o "${source%.c}" "$source"
done
