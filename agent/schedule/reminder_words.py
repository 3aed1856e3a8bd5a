"""Tells from its words whether a job's text is a wish to be reminded: the default of `remind` where a note has none."""

from agent.config.resources import pattern

_END = " .。!！?？"


def plain_wish(sentence: str) -> str:
    """A sentence without the courtesies around a wish, and without its last mark."""
    return pattern("reminder_courtesy").sub("", sentence).strip(_END)


def begins_as_wish(text: str) -> bool:
    """True if the words of a text begin with a wish to be reminded."""
    return pattern("reminder").match(plain_wish(text)) is not None
