"""The notes that steer the agent in every run: text that arrives in them is asked about, whoever sent it.

Skills have a trust of their own, which is asked about for each of their files.
"""

NOTES = ("agent.md", "memory.md")
FOLDERS = ("rules", "jobs", "prompts")


def steers(path: str) -> bool:
    """Whether the note at `path` is in the prompt of every run, or makes the agent act by itself."""
    first, _, rest = path.casefold().partition("/")
    return first in FOLDERS if rest else first in NOTES
