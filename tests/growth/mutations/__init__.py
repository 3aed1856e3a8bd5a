"""Variants of skills: proposed, tried on every second use, judged."""
