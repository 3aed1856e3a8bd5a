"""A process that prepares groups of notes for `processes`: pickled groups on standard input, the answers on standard
output. It ends with its input, and so with the process that started it."""

import os
import pickle
import sys

from agent.index.prepare import prepare


def serve() -> None:
    """Load the embedder that the first message names, and say what it is called; then answer group by group."""
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    incoming = sys.stdin.buffer
    load, fields = pickle.load(incoming)
    embedder = load()
    pickle.dump(embedder.name if embedder is not None else "", outgoing)
    outgoing.flush()
    while True:
        try:
            group = pickle.load(incoming)
        except EOFError:
            return
        pickle.dump(prepare(group, embedder, fields), outgoing, protocol=pickle.HIGHEST_PROTOCOL)
        outgoing.flush()


if __name__ == "__main__":
    serve()
