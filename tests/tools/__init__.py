"""Tests of `agent/tools`."""
