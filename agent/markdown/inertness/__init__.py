"""The parts of a note that an editor would load or run when it shows the note, found by what is allowed.

`active` judges a text or a note, by lists of what does nothing; `readings` parse it in the ways in which editors do.
"""
