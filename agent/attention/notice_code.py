"""The code by which a person names a notice."""

_ID = 6
"""The characters of an id's end that are its code."""


def notice_code(id: str) -> str:
    """The end of a notice's id, in small letters."""
    return id[-_ID:].lower()
