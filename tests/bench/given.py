"""What a first request is given of LoCoMo's talks: how often all evidence is there, and in how many tokens.

Each talk is a vault with its sessions in a folder `sessions-talk`; every third question of categories 1 to 4 is asked
as it is, and once more with words that say where to look. `family` compares numbers of passages and lines around them.

    python -m tests.bench.given [../shared/data/locomo/dev.json] [family]
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.app.open import open_workspace
from agent.context.budget import counter
from agent.index.embedder import shipped_embedder
from agent.memory.recall import widening
from agent.memory.recall.authorship import Asker
from agent.memory.recall.recaller import Remembered
from agent.runs.recall_source import MemorySource, recall_source
from agent.workspace.search_index import open_index
from tests.bench import locomo
from tests.bench.gate import general_tasks
from tests.vaults import make_vault

FOLDER = "sessions-talk"
WHERE = ", going by the notes in sessions-talk?"
EVERY = 3
FAMILY = ((6, 0, 160), (4, 8, 160), (4, 8, 1_000), (6, 4, 160), (6, 8, 120), (6, 8, 160), (6, 8, 1_000), (8, 0, 160))
"""Passages, lines on either side, and the words from which none are added."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The figures of many questions: the share with all evidence, that of pieces of evidence, the median of tokens, the
    mean of passages, the share of passages that end with a question, and of general tasks given something."""

    complete: float
    pieces: float
    tokens: float
    passages: float
    asking: float
    general: float


@contextmanager
def talks(path: Path) -> Iterator[list[tuple[MemorySource, locomo.Conversation]]]:
    """The talks, each in a vault of its own, with the source of its first requests."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update({"VAULT_AGENT_HOME": f"{folder}/home", "VAULT_AGENT_GIT__DURABLE": "false"})
        opened, found = [], []
        for number, talk in enumerate(locomo.read(path)):
            notes = {f"{FOLDER}/{Path(name).name}": data for name, data in talk.notes.items()}
            workspace = open_workspace(make_vault(Path(folder) / str(number), notes).place.root)
            opened.append(open_index(workspace))
            opened[-1].refresh()
            found.append((MemorySource(recall_source(workspace, opened[-1]), Asker()), talk))
        yield found
        for index in opened:
            index.close()


def measure(found: Sequence[tuple[MemorySource, locomo.Conversation]], behind: str = "?") -> Shown:
    """The figures, with these words behind each question."""
    count = counter(shipped_embedder())
    complete, tokens, passages, needless = [], [], [], []
    had = wanted = asking = 0
    for number, (source, talk) in enumerate(found):
        for question in [each for each in talk.questions if each.category != 5][::EVERY]:
            given = source.passages(question.text.rstrip("?") + behind).found
            lines = {(Path(each.path).name, line) for each in given for line in _lines(each)}
            evidence = {(Path(path).name, line) for path, line in question.evidence}
            complete.append(evidence <= lines)
            had, wanted = had + len(evidence & lines), wanted + len(evidence)
            tokens.append(sum(count(each.model_text) for each in given))
            passages.append(len(given))
            asking += sum(each.text.endswith(("?", "？")) for each in given)
        needless += [bool(source.passages(task).found) for task in general_tasks(1 + number % 2)[::EVERY]]
    return Shown(
        statistics.mean(complete), had / wanted, statistics.median(tokens), statistics.mean(passages),
        asking / max(sum(passages), 1), statistics.mean(needless),
    )  # fmt: skip


def _lines(each: Remembered) -> range:
    return range(each.lines[0], each.lines[1] + 1)


def _row(name: str, each: Shown) -> str:
    return (
        f"{name:34} complete {each.complete:.3f}  pieces {each.pieces:.3f}  tokens {each.tokens:.0f}"
        f"  passages {each.passages:.1f}  end with a question {each.asking:.3f}  general tasks {each.general:.3f}\n"
    )


def main(path: Path, *, family: bool) -> None:
    """Print the figures as they ship, or those of the family."""
    for most, lines, words in FAMILY if family else ((0, widening.LINES, widening.WORDS),):
        if most:
            os.environ["VAULT_AGENT_CONTEXT__MEMORIES"] = str(most)
        widening.LINES, widening.WORDS = lines, words
        with talks(path) as found:
            name = f"{most or 'as shipped'}, {lines} lines, {words} words"
            sys.stdout.write(_row(name, measure(found)))
            if not family:
                sys.stdout.write(_row("with words that say where", measure(found, WHERE)))
            sys.stdout.flush()


if __name__ == "__main__":
    given_words = sys.argv[1:]
    file = next((Path(each) for each in given_words if each.endswith(".json")), locomo.DATA)
    main(file, family="family" in given_words)
