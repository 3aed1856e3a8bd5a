"""The receipts of texts for the model: the commit that has the quoted version of a note, and the record of a text.

The loop adds the commit and not the hooks, since a hook's time is too short to wait for git.
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from agent.errors import AgentError
from agent.events.bus import Injection
from agent.events.receipt import Receipt
from agent.llm.messages import Context
from agent.loop.records import PinnedLines, Spoken
from agent.tools.tool import Cited
from agent.vault.history.commits import Pins, pins
from agent.vault.store import Vault

logger = logging.getLogger(__name__)


def pin_receipts(vault: Vault, injections: Sequence[Injection]) -> tuple[Injection, ...]:
    """The injections, with a commit in each receipt whose note has one; git is run only if there are receipts."""
    found = _pins(vault, {receipt.path for each in injections for receipt in each.receipts if receipt.commit is None})
    return tuple(
        replace(
            each,
            receipts=tuple(replace(every, commit=every.commit or found.commit(every.path)) for every in each.receipts),
        )
        for each in injections
    )


def spoken_text(vault: Vault, message: Context, receipts: Sequence[Receipt], language: str) -> Spoken:
    """The record of a text with its receipts; the session's note has only the receipts of a memory."""
    pinned = tuple(PinnedLines(each.path, each.lines, each.commit or _content(vault, each.path)) for each in receipts)
    return Spoken(message, remark=" · ".join(each.named(language) for each in receipts), pinned=pinned)


def _content(vault: Vault, path: str) -> str:
    """The id of the note's content; empty if it cannot be read."""
    try:
        return vault.current_id(path)
    except (AgentError, OSError):
        return ""


def _pins(vault: Vault, paths: set[str]) -> Pins:
    try:
        return pins(vault, paths)
    except (AgentError, OSError) as error:  # a receipt without a commit is better than a run that ends
        logger.warning("what was put before the model is not pinned to a commit: %s", error)
        return Pins()


_LINK = re.compile(r"\[\[([^\]|#\n]+)")


def used_notes(answer: str, cited: Sequence[Cited]) -> tuple[Cited, ...]:
    """The passages of the notes that an answer links or names by their paths, in their order."""
    links = {link.strip().removesuffix(".md").casefold() for link in _LINK.findall(answer)}
    return tuple(each for each in cited if each.path in answer or _is_linked(each.path, links))


def _is_linked(path: str, links: set[str]) -> bool:
    """True if a link has the note's path, or its name alone."""
    whole = path.removesuffix(".md").casefold()
    return whole in links or PurePosixPath(whole).name in links
