"""What the person has said of the patterns: in the boxes of their profile, and below the suggestions about them."""

from collections.abc import Iterable, Mapping

from agent.attention.receipt import NoticeReceipt
from agent.growth.patterns.pattern_notes import DAYS, INSIGHTS, parse_blocks
from agent.vault.store import Vault

SUGGESTED = "pattern"
"""The type of a notice about a pattern; its subject ends with the pattern's id."""
_OPINIONS = {"helpful": "helpful", "not_helpful": "not_helpful", "dismissed": "not_helpful"}


def pattern_opinions(vault: Vault, receipts: Iterable[NoticeReceipt]) -> Mapping[str, str]:
    """Helpful or not_helpful, by the pattern's id; what stands in the profile counts more than what was said of a
    notice."""
    found: dict[str, str] = {}
    for each in receipts:
        if each.raised.type == SUGGESTED and each.reaction is not None:
            found[each.raised.subject.rpartition(":")[2]] = _OPINIONS[each.reaction]
    for name in (INSIGHTS, DAYS):
        lines = (vault.own_version(vault.home.at(name)) or b"").decode("utf-8", "replace").splitlines()
        found |= {block.id: block.opinion for block in parse_blocks(lines).values() if block.opinion}
    return found
