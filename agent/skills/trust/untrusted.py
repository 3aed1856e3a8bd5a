"""Detects files under `skills/` that belong to an unreviewed skill.

Uses path and bytes only, for searches and reads that see the file as a note and have no library.
"""

from hashlib import sha256

from agent.skills.loading.locations import split_name
from agent.skills.loading.pins import ReviewPins


def untrusted_source(pins: ReviewPins, name: str, data: bytes) -> str:
    """The words for the source of a skill's file that differs from the reviewed one; empty for any other file."""
    found = split_name(name)
    if found is None or not found.file:
        return ""
    pin = pins.get(f"{found.source}.{found.name}")
    reviewed = pin.files.get(found.file) if pin is not None else None
    return "" if reviewed == sha256(data).hexdigest() else "a skill that nobody has reviewed"
