"""Learns skills from runs: recurring workflows, suggestions, and offers that the person decides.

Imports `reading` and `loading`. Writes no skill without the person's approval.
"""
