"""Compares texts and finds facts in them, by rules or with a model. Reads no vault; decisions are left to the
callers."""
