"""The limits of reading one attachment, and the error of a reader that cannot read it."""

MOST_CHARACTERS = 2_000_000
"""Characters of the text of one file: a book of a thousand pages; what comes after them is left out."""
MOST_PARTS = 5_000
"""Pages, slides or sections of one file."""
MOST_ROWS = 5_000
"""Rows of one sheet or table: more is data, not text."""
MOST_COLUMNS = 60
LONGEST_CELL = 1_000
MOST_UNPACKED = 200_000_000
"""Bytes that the parts of a package may have in all when they are unpacked."""
LARGEST_PART = 100_000_000
SECONDS = 30.0
"""Seconds for one file."""
MEMORY = 1_500_000_000
"""Bytes of address space of the process that reads one file."""
MOST_ANSWER = 32_000_000
"""Bytes of an answer: more than all characters that a text may have."""


class Unreadable(Exception):
    """A file that cannot be read; its text is the reason, in one line."""


class Empty(Exception):
    """A file that has no text yet, such as a new canvas: nothing is wrong with it."""
