"""What models were given in conversations, after a forgetting: the rows that say the forgotten text go.

A conversation goes on with the texts it was given, so the others stay. The thinking of a model goes whole, since it may
be encrypted; only that of a conversation that waits for a yes stays: its call cannot be made without it.
"""

from collections.abc import Iterator
from contextlib import suppress

from agent.asking.answers import pending_proposals
from agent.config import private
from agent.json_value import parse_json
from agent.markdown.note import Note
from agent.memory.forgetting.said_again import SaidAgain
from agent.vault.layout import GIVEN_TEXTS
from agent.vault.store import Vault

_THINKING = '{"thinking before": '
"""The beginning of a text that is thinking, as `loop.kept_thinking` writes it."""


def forget_in_given_texts(vault: Vault, said: SaidAgain) -> None:
    """Drop the rows of all conversations that say the text or name a note of it; a file that cannot be read goes."""
    waiting = set(_waiting(vault))
    for path in (vault.private_folder / GIVEN_TEXTS).glob("*.jsonl"):
        with suppress(OSError):
            try:
                rows = path.read_text("utf-8").splitlines(keepends=True)
                left = [each for each in rows if _stays(_text(each), said, is_waiting=path.stem in waiting)]
            except ValueError:
                left, rows = [], [""]
            if not left:
                path.unlink()
            elif len(left) < len(rows):
                private.replace(path, "".join(left))


def _waiting(vault: Vault) -> Iterator[str]:
    """The ids of the sessions in which a call waits for a yes."""
    for each in pending_proposals(vault, "call"):
        data = vault.read(each.session) if each.session else None
        yield (Note.parse(data).id or "") if data else ""


def _stays(text: str | None, said: SaidAgain, *, is_waiting: bool) -> bool:
    if text is None or (text.startswith(_THINKING) and not is_waiting):
        return False
    return not said.concerns(text)


def _text(row: str) -> str | None:
    """The text in a row; None for one that is damaged, in which nothing can be searched."""
    with suppress(ValueError):
        match parse_json(row):
            case {"text": str(text)}:
                return text
    return None
