"""Adds to the receipts of injected text the commit that contains the quoted version of the note.

The loop adds it and not the hooks, since a hook's time is too short to wait for git.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace

from agent.errors import AgentError
from agent.events.subscriber import Injection
from agent.vault.history.pins import Pins, pins
from agent.vault.store import Vault

logger = logging.getLogger(__name__)


def pin_receipts(vault: Vault, told: Sequence[Injection]) -> tuple[Injection, ...]:
    """The injections, with a commit in each receipt whose note has one; git is run only if there are receipts."""
    found = _pins(vault, {receipt.path for each in told for receipt in each.receipts if receipt.commit is None})
    return tuple(
        replace(
            each,
            receipts=tuple(replace(every, commit=every.commit or found.commit(every.path)) for every in each.receipts),
        )
        for each in told
    )


def _pins(vault: Vault, paths: set[str]) -> Pins:
    try:
        return pins(vault, paths)
    except (AgentError, OSError) as error:  # a receipt without a commit is better than a run that ends
        logger.warning("what was put before the model is not pinned to a commit: %s", error)
        return Pins()
