"""Tests, laid out as the package is: contracts per seam in `contracts/`, whole paths in `stories/`."""
