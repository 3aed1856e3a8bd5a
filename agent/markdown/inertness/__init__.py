"""The parts of a note that an editor would load or run when it shows the note, found by what is allowed.

`active` judges a text or a whole note; `readings` parse it in the ways in which editors do; `allowed` has the lists of
what does nothing.
"""
