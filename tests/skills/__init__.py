"""Tests of `agent/skills`."""
