"""Measurements with data and peers that do not ship; a test runs each of them at a small size."""
