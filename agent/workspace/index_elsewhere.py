"""Has a process of its own take very many notes into the index: what that leaves in memory ends with the process.

Ten thousand notes need some 300 MB for a minute, and Python and the engines keep a good part of what they have had: a
daemon would hold it for weeks. A process that cannot be started, fails or is killed costs nothing but time: the caller
takes the notes in itself.
"""

import logging
import pickle
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from agent.dataclass import dataclass
from agent.index.processes import LoadEmbedder
from agent.index.update import IndexReport, Progress
from agent.module_process import end_process, start_module

_PROCESS = "agent.workspace.index_process"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IndexTask:
    """Notes of the vault at `root` that the index in `folder` is to follow: content hashes by path, None for a deleted
    note. `are_all` says that they are all notes, not only those that changed.

    The process loads its embedder with `load`, and does nothing if its index would have another identity.
    """

    root: Path
    folder: Path
    identity: str
    load: LoadEmbedder
    notes: Mapping[str, str | None]
    are_all: bool


def take_in_elsewhere(task: IndexTask, progress: Progress) -> IndexReport | None:
    """What the update came to; None if it is left to the caller. A caller that is interrupted ends the process."""
    try:
        with _process() as process:
            outgoing, incoming = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
            pickle.dump(task, outgoing, protocol=pickle.HIGHEST_PROTOCOL)
            outgoing.flush()
            while isinstance(answer := pickle.load(incoming), tuple):
                progress(*answer)
    except Exception as error:  # noqa: BLE001 - whatever another process fails with, its work is done here
        logger.warning("the process that updates the index has ended: %s", error or type(error).__name__)
        return None
    return answer if isinstance(answer, IndexReport) else None


@contextmanager
def _process() -> "Iterator[subprocess.Popen[bytes]]":
    """The process, which ends with the block."""
    process = start_module(_PROCESS)
    try:
        yield process
    finally:
        end_process(process)  # a stop at any point is harmless to an index
