"""Requests that people write into their notes: which notes ask, the run that answers, the answer in the note."""
