"""A process that updates an index for `index_elsewhere`: a pickled task on standard input, on standard output how far
it has come and then the report. It ends with its input, and so with the process that started it."""

import os
import pickle
import sys
import threading
from collections.abc import Callable
from contextlib import closing

from agent.index.embedder import EmbedderChoice
from agent.index.update import IndexReport
from agent.workspace.index_elsewhere import IndexTask
from agent.workspace.process_memory import look_while_loading
from agent.workspace.search_index import open_index
from agent.workspace.workspace import load_workspace


def take_in(task: IndexTask, tell: Callable[[object], object]) -> IndexReport | None:
    """Update the index; None if that is left to whoever asked: the index would be another one, or is not whole."""
    chosen = EmbedderChoice(task.load(), load=task.load)
    with closing(open_index(load_workspace(task.root), chosen=chosen)) as index:
        if (index.files.folder, index.updater.identity) != (task.folder, task.identity):
            return None
        index.updater.progress = lambda done, of: tell((done, of))
        if not task.are_all:
            return index.updater.touch(task.notes, index.read)
        listed = {path: digest for path, digest in task.notes.items() if digest is not None}
        return index.updater.update(listed, index.read)


def serve() -> None:
    """Do the task on standard input, and end; without an answer when it fails."""
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    look_while_loading()
    task = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_input, daemon=True).start()

    def tell(answer: object) -> None:
        pickle.dump(answer, outgoing, protocol=pickle.HIGHEST_PROTOCOL)
        outgoing.flush()

    tell(take_in(task, tell))


def _end_with_input() -> None:
    """End this process when the one that started it has ended: a stop at any point is harmless to an index."""
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    serve()
