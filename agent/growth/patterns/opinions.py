"""What the person has said of the patterns, in the boxes of their profile."""

from agent.growth.patterns.pattern_notes import DAYS, INSIGHTS, parse_blocks
from agent.vault.store import Vault


def pattern_opinions(vault: Vault) -> tuple[str, ...]:
    """Helpful or not_helpful, once for each pattern of which it was said."""
    found: dict[str, str] = {}
    for name in (INSIGHTS, DAYS):
        lines = (vault.own_version(vault.home.at(name)) or b"").decode("utf-8", "replace").splitlines()
        found |= {block.id: block.opinion for block in parse_blocks(lines).values() if block.opinion}
    return tuple(found.values())
