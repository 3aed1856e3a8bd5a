"""Which files are attachments, by the endings of their names."""

from pathlib import PurePosixPath

from agent.attachments.readers import ENDINGS

PLAIN = frozenset({".txt", ".csv", ".tsv", ".canvas", ".base"})
"""Text that tools also read as it is, and change, if it is UTF-8."""


def ending_of(path: str) -> str:
    """The ending of a name, in lower case, with its point."""
    return PurePosixPath(path).suffix.lower()


def is_attachment(path: str) -> bool:
    """True if the text of this file can be extracted."""
    return ending_of(path) in ENDINGS
