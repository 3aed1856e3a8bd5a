"""Tests of `agent/loop`."""
