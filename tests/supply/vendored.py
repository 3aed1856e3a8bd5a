"""The files of npm packages that the pages load, as the table beside them lists them.

`python -m tests.supply.vendored` gets the packages again with npm, and compares the files with those here.
"""

import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

FOLDER = Path(__file__).parents[2] / "agent/interfaces/http/pages/vendor"
_ROW = re.compile(r"\| `([^`]+)` \| `([^`]+)`, `([^`]+)` \| ([\d.]+) \| [^|]+ \| `([0-9a-f]{64})` \|")
_SOURCE_MAP = re.compile(rb"\n?(?://|/\*)# sourceMappingURL=[^\n]*\n?")
_CHANGED = {"force-graph.min.js": (b'createElement("style")', b'createElement("template")')}
"""What is changed in a file, as the text below the table says."""


@dataclass(frozen=True, slots=True)
class Vendored:
    """One file: its package, its place there, and the SHA-256 that it has here."""

    name: str
    package: str
    place: str
    version: str
    digest: str

    @property
    def data(self) -> bytes:
        return (FOLDER / self.name).read_bytes()

    @property
    def is_as_listed(self) -> bool:
        return sha256(self.data).hexdigest() == self.digest

    def is_as_published(self, published: bytes) -> bool:
        """True if the file is the published one, but for the line that names a source map and the change listed."""
        plain = _SOURCE_MAP.sub(b"", published).replace(*_CHANGED.get(self.name, (b"", b"")))
        return plain.strip() == self.data.strip()


def listed() -> tuple[Vendored, ...]:
    """The rows of the table."""
    return tuple(Vendored(*row) for row in _ROW.findall((FOLDER / "README.md").read_text("utf-8")))


def compare() -> Iterator[str]:
    """A line for each file: whether it is as published."""
    with TemporaryDirectory() as folder:
        for package, version in sorted({(each.package, each.version) for each in listed()}):
            command = ["npm", "pack", "--json", "--pack-destination", folder, f"{package}@{version}"]
            packed = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
            (found,) = packed if isinstance(packed, list) else packed.values()
            with tarfile.open(Path(folder) / found["filename"]) as archive:
                for each in (row for row in listed() if row.package == package):
                    member = archive.extractfile(f"package/{each.place}")
                    same = member is not None and each.is_as_published(member.read()) and each.is_as_listed
                    yield f"{'ok   ' if same else 'DIFFERS'} {each.name} {package}@{version}"


if __name__ == "__main__":
    lines = list(compare())
    sys.stdout.write("\n".join([*lines, ""]))
    sys.exit(any(line.startswith("DIFFERS") for line in lines))
