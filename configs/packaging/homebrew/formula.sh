#!/bin/sh
# The formula for Homebrew of one release, on standard output.
#   formula.sh HOMEPAGE TAG ARCHIVE
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
homepage=$1
tag=$2
archive=$3
sum=$(sha256sum "$archive" | cut -d ' ' -f 1)
sed -e "s|@HOMEPAGE@|$homepage|" -e "s|@URL@|$homepage/releases/download/$tag/$(basename "$archive")|" -e "s|@SHA256@|$sum|" \
    "$here/vault-agent.rb"
