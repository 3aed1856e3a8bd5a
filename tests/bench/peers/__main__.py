"""Makes the table: see the package."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.peers import notes as write_notes
from tests.bench.peers.compare import compare, table
from tests.bench.peers.embeddings import embeddings
from tests.bench.peers.programs import PEERS
from tests.bench.retrieval import read

options = argparse.ArgumentParser(prog="python -m tests.bench.peers")
options.add_argument("folder", nargs="?", type=Path)
options.add_argument("fixture", nargs="?", type=Path)
options.add_argument("--notes", type=int, default=6_289)
options.add_argument("--questions", type=int, default=60)
options.add_argument("--only", nargs="*", default=[])
given = options.parse_args()
with tempfile.TemporaryDirectory(prefix="peers-") as made, embeddings() as address:
    if given.folder:
        root, asked = given.folder, read(given.fixture)
        asked = asked[:: max(1, len(asked) // given.questions)]
    else:
        root, fixture = Path(made) / "notes", Path(made) / "questions.jsonl"
        command = [sys.executable, "-m", write_notes.__name__, str(root), str(given.notes), str(given.questions)]
        fixture.write_bytes(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        asked = read(fixture)
    peers = [peer for peer in PEERS if not given.only or any(name in peer.name for name in given.only)]
    rows = compare(root, asked, peers, {"EMBEDDINGS": address}, lambda line: sys.stderr.write(f"{line}\n"))
    sys.stdout.write(table(rows, len(asked)) + "\n")
