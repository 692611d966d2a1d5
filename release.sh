#!/bin/sh
# Builds what a release has: the command for each platform, and the checksums of all. The same
# source and version of Go give the same bytes, wherever it is built:
#
#	./release.sh v1.2.3 dist
set -eu
version=${1:?usage: release.sh VERSION DIRECTORY}
out=${2:?usage: release.sh VERSION DIRECTORY}
platforms=${PLATFORMS:-linux/amd64 linux/arm64 darwin/arm64 windows/amd64}
cd "$(dirname "$0")"
mkdir -p "$out"
out=$(cd "$out" && pwd)
go version
for platform in $platforms; do
	os=${platform%/*}
	arch=${platform#*/}
	name=cofferdam_${version}_${os}_${arch}
	[ "$os" != windows ] || name=$name.exe
	CGO_ENABLED=0 GOOS=$os GOARCH=$arch GOFLAGS= go build -trimpath -buildvcs=false -ldflags="-s -w -buildid= -X github.com/cofferdam-go/cofferdam/cmd/cofferdam/versions.release=$version" -o "$out/$name" ./cmd/cofferdam
	echo "$name"
done
(cd "$out" && sha256sum cofferdam_"$version"_* >SHA256SUMS && cat SHA256SUMS)
