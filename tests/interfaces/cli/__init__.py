"""Tests of the command line: what a person sees, and what a script gets."""
