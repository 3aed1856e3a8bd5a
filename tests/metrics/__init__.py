"""Tests of `agent/metrics`."""
