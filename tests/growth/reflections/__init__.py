"""Reflections: their notes, their answers, when they are made, and what must never come of them."""
