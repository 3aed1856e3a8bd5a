"""A process of its own that cuts each file of an index short while a search has it open; give it engine and folder.

Prints one line for each file and length: its name, what the next search says, whether an update then makes it good.
A process that dies has printed what it was at.
"""

import os
import shutil
import sys
from pathlib import Path

from agent.index.files import IndexFiles
from agent.index.keyword import Engine, Weights
from agent.index.search import Searcher
from agent.index.update import Updater
from tests.bench.vault import MemoryVault
from tests.index.fakes import FAKE

NOTES = {f"{number}.md": f"# Note {number}\n\nthe feline sat on mat{number}\n".encode() * 9 for number in range(40)}
QUESTION = "mat7 cat"
PAGE = 4096
"""What the system maps at once: within a page, what was cut off reads as zeros."""


def main(engine: Engine, folder: Path) -> None:
    """Cut every file to nothing, and those of more than a page to half, each in an index of its own."""
    weights = Weights()
    whole = folder / "whole"
    vault = MemoryVault(dict(NOTES))
    vault.searcher(whole, engine, FAKE, weights).close()
    kept = Searcher(IndexFiles(whole), engine, FAKE, weights)
    answer = kept.search(QUESTION).hits
    sizes = {path.relative_to(whole): path.stat().st_size for path in sorted(whole.rglob("*")) if path.is_file()}
    kept.close()
    cases: list[tuple[Path, int, Path, Searcher, Updater]] = []
    for name, size in sizes.items():
        for length in {0, size // 2 if size > PAGE else 0} if size else ():
            harmed = folder / f"{str(name).replace(os.sep, '-')}-{length}"
            shutil.copytree(whole, harmed)
            searcher, updater = (
                Searcher(IndexFiles(harmed), engine, FAKE, weights),
                vault.updater(harmed, engine, FAKE, weights),
            )
            vault.update(updater)
            assert searcher.search("feline").hits
            cases.append((name, length, harmed, searcher, updater))
    # all were opened first, as tantivy reads a file once more in a thread of its own just after it is opened
    for name, length, harmed, searcher, updater in cases:
        sys.stdout.write(f"{name}\t{length}\t")
        sys.stdout.flush()
        os.truncate(harmed / name, length)
        said, again = searcher.search("feline sat on mat8"), searcher.search(QUESTION)
        vault.update(updater)
        healed = searcher.search(QUESTION)
        good = healed.hits == answer and healed.degraded is None
        sys.stdout.write(f"{said.degraded or 'whole'}\t{again.degraded or 'whole'}\t{good}\n")
        sys.stdout.flush()
        searcher.close()
        updater.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))  # type: ignore[arg-type]
