"""Variants of skills on trial: their notes, the records that make them valid, and which version a use takes.

Imports `reading` and `loading`. Who proposes a variant, and what becomes of it, is decided in `agent.growth`.
"""
