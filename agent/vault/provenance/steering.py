"""Which notes say what the agent does in every run: what arrives in them is asked about, whoever sent it.

Skills have a trust of their own, which is asked about for each of their files.
"""

NOTES = ("agent.md", "memory.md")
FOLDERS = ("rules", "jobs", "prompts")


def steers(path: str) -> bool:
    """Whether the note at `path` is before the agent in every run, or makes it act by itself."""
    first, _, rest = path.casefold().partition("/")
    return first in FOLDERS if rest else first in NOTES
