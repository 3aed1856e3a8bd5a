"""Tests of `agent/context`."""
