#!/bin/sh
# Makes a Debian package of a wheel: the program with the packages that were tested in an environment of its own, a unit
# of systemd for each person's vaults, a manual page. Run it on the Debian (or Ubuntu) that the package is for:
# its Python is the one that is used.
#   MAINTAINER='Name <name@example.org>' build.sh WHEEL CONSTRAINTS FOLDER
# Needs python3-venv, dpkg-dev and binutils; from the package registry it gets what the wheel declares. No script runs as
# root when the package is installed or removed, so nothing is changed but its own files.
set -eu
wheel=$1
constraints=$2
out=$3
: "${MAINTAINER:?set MAINTAINER, such as 'Name <name@example.org>'}"
: "${SOURCE_DATE_EPOCH:=$(stat -c %Y "$wheel")}"
export SOURCE_DATE_EPOCH
umask 022
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
place=/usr/lib/vault-agent
minor=$(/usr/bin/python3 -c 'import sys; print(sys.version_info.minor)')
# 0.2.0.dev3+gabc comes before 0.2.0: in Debian's order that is a tilde
version=$(basename "$wheel" | cut -d- -f2 | sed 's/\.dev/~dev/')

/usr/bin/python3 -m venv "$work/pip"
/usr/bin/python3 -m venv --without-pip "$root$place"
"$work/pip/bin/pip" --python "$root$place/bin/python" --disable-pip-version-check install --quiet --no-compile \
    --constraint "$constraints" "$wheel"
rm -rf "$root$place/bin/"[Aa]ctivate* "$root$place/include" "$root$place/.gitignore"
find "$root$place/bin" -type f ! -name vault-agent -delete
find "$root$place" -type d \( -name tests -o -name test \) -path '*/site-packages/*' ! -path '*/agent/*' -prune -exec rm -rf {} +
sed -i "1s|.*|#!$place/bin/python|" "$root$place/bin/vault-agent"
printf 'home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.%s\n' "$minor" > "$root$place/pyvenv.cfg"
find "$root" -name '*.so*' -type f -exec strip --strip-unneeded {} +
find "$root" -name '*.so*' -type f -exec chmod 644 {} +
# compiled here: nobody who runs it may write there
/usr/bin/python3 -m compileall -q -s "$root" -p / --invalidation-mode unchecked-hash "$root$place"
ln -sf "../../../bin/python3.$minor" "$root$place/bin/python3"

doc=$root/usr/share/doc/vault-agent
install -d "$root/usr/bin" "$doc" "$root/usr/share/man/man1" "$root/usr/lib/systemd/user" "$root/usr/share/lintian/overrides"
ln -s ../lib/vault-agent/bin/vault-agent "$root/usr/bin/vault-agent"
install -m 644 "$here/vault-agent@.service" "$root/usr/lib/systemd/user/"
sed '1,4d; s/^$/./; s/^/ /' "$here/../../../LICENSE" | cat "$here/copyright" - > "$doc/copyright"
install -m 644 "$here/lintian-overrides" "$root/usr/share/lintian/overrides/vault-agent"
gzip -9n < "$here/vault-agent.1" > "$root/usr/share/man/man1/vault-agent.1.gz"
printf 'vault-agent (%s) unstable; urgency=medium\n\n  * What is new: .github/CHANGELOG.md of the sources.\n\n -- %s  %s\n' \
    "$version" "$MAINTAINER" "$(date -R -u -d "@$SOURCE_DATE_EPOCH")" | gzip -9n > "$doc/changelog.gz"

install -d "$root/DEBIAN"
cat > "$root/DEBIAN/control" <<END
Package: vault-agent
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: $MAINTAINER
Installed-Size: $(du -sk "$root" | cut -f1)
Depends: python3 (>= 3.$minor~), python3 (<< 3.$((minor + 1))~), git, ca-certificates, libc6, libgcc-s1, libstdc++6, zlib1g
Recommends: openssh-client
Suggests: bubblewrap, libnotify-bin
Section: text
Priority: optional
Description: personal agent that lives in a vault of Markdown notes
 It answers, remembers and does what you plan, in notes that you can read and
 change in any editor. Each of its changes is a commit in the history of your
 vault that one command takes back. It runs on your machine, with the language
 model of your choice or without one.
END
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
(cd "$root" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k 2) > "$root/DEBIAN/md5sums"
dpkg-deb --root-owner-group --build "$root" "$out" > /dev/null
echo "$out/vault-agent_${version}_$(dpkg --print-architecture).deb"
