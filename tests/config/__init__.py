"""Tests of settings: where a value comes from, and what is refused."""
