#!/bin/sh
# The steps that make the image, for the Containerfile and for any Debian with a folder of its own: the program from a
# wheel in an environment of its own, with the packages that were tested, and a person without rights to run it as.
#   install.sh WHEEL CONSTRAINTS
set -eu
wheel=$1
constraints=$2
python3 -m venv /opt/vault-agent
/opt/vault-agent/bin/pip install --no-cache-dir --quiet --constraint "$constraints" "$wheel"
ln -s /opt/vault-agent/bin/vault-agent /usr/local/bin/vault-agent
useradd --uid 1000 --create-home --shell /usr/sbin/nologin agent
install -d -o agent -g agent -m 700 /vault /state
