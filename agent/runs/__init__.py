"""Runs of one vault, for all interfaces and the daemon. Imports no interface and no module of `background`."""
