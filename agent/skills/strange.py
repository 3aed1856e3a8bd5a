"""Whether a file in a vault's `skills/` is of a skill that nobody on this machine has looked at: a stranger's text.

Told from its path and bytes alone, for whoever meets it as a note (a search, a read) and has no library at hand.
"""

from hashlib import sha256

from agent.skills.library import RESERVED
from agent.skills.reviewed import Pins
from agent.skills.skill import Source
from agent.vault.folders import LEARNED, SKILLS


def stranger(pins: Pins, path: str, data: bytes) -> str:
    """Whose text a file is, in words, if it belongs to a skill and is not as it was reviewed; else empty."""
    parts = path.split("/")
    if not path.startswith(SKILLS) or len(parts) < 3:
        return ""
    source, parts = (Source.LEARNED, parts[2:]) if path.startswith(LEARNED) else (Source.VAULT, parts[1:])
    if len(parts) < 2 or (source is Source.VAULT and parts[0] in RESERVED):
        return ""
    pin = pins.get(f"{source}.{parts[0]}")
    seen = pin.files.get("/".join(parts[1:])) if pin is not None else None
    return "" if seen == sha256(data).hexdigest() else "a skill that nobody has reviewed"
