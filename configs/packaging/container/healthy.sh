#!/bin/sh
# Whether the daemon of the vault is at work.
vault-agent --vault /vault status --json | grep -q '"daemon": {'
