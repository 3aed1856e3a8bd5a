"""Compares texts and finds facts in them, by rule or with a model. It reads no vault, and decides nothing."""
