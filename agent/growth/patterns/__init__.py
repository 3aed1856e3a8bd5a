"""Patterns in what a person does, found by counting and without a model; begin at `look`.

`gather` reads the vault once into an `Activity`; each detector is a pure function of it; `pattern_notes` writes what
they find into the notes about the person. When to look is not decided here.
"""
