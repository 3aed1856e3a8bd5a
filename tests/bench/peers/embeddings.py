"""OpenAI's wire for embeddings on loopback, with the vectors that vault-agent ships: a peer that brings no model of its
own is measured with the same one."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from agent.index.embedder import load_wordllama


@contextmanager
def embeddings() -> Iterator[str]:
    """The address of a server of embeddings, in a process of its own."""
    command = [sys.executable, "-m", __name__]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def serve() -> None:
    """Say the address, and answer until the process is ended."""
    embedder = load_wordllama()

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            sums = [embedder.vectors(tokens).sum(axis=0) for tokens in embedder.tokens(texts)]
            units = [(each / max(float(np.linalg.norm(each)), 1e-9)).tolist() for each in sums]
            rows = [{"object": "embedding", "index": at, "embedding": each} for at, each in enumerate(units)]
            answer: dict[str, Any] = {"object": "list", "data": rows, "model": asked["model"]}
            body = json.dumps({**answer, "usage": {"prompt_tokens": 1, "total_tokens": 1}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}/v1\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    serve()
