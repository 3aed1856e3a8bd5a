"""The packages that the program brings, with theirs, and the licence of each.

`python -m tests.supply.licences` writes the list to `configs/packaging/licences.md`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROGRAM = "vault-agent"
LIST = Path(__file__).parents[2] / "configs/packaging/licences.md"
NOT_FOR_PEOPLE = frozenset(("dev", "real-model"))
"""Extras for tests."""
COMPATIBLE = {
    **{each: each for each in ("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC")},
    **{each: each for each in ("MIT", "MPL-2.0", "PSF-2.0")},
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "The MIT License (MIT)": "MIT",
    "Apache Software License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    **{each: each for each in ("CC0-1.0", "MIT-0", "MIT-CMU", "Zlib")},
    "dependency licenses": "those of PDFium's parts (BSD, Apache, MIT and the like), which lie in the package",
}
"""The words with which packages name a licence under which one may use them in a program under MIT. MPL covers its own
files only; of packages under LGPL see `LINKED`."""
IN_ITS_FILE = {"agent-client-protocol": "Apache-2.0"}
"""What the licence in the package is, where its metadata names none."""
LINKED = {
    "psycopg": "LGPL-3.0",
    "psycopg-binary": "LGPL-3.0",
    "pystray": "LGPL-3.0",
    "python-xlib": "LGPL-2.1",
    "recurring-ical-events": "LGPL-3.0",
    "x-wr-timezone": "LGPL-3.0",
}
"""Packages that are loaded as they are, from their own files: that is all that the LGPL asks for. They come with extras
only."""
_JOINED = re.compile(r"\s+(?:AND|OR|WITH)\s+|,\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Licensed:
    """A package and what it says of its licence, in parts; none if it says nothing that is known."""

    name: str
    says: tuple[str, ...]

    @property
    def unknown(self) -> tuple[str, ...]:
        """What is not known to be compatible; the word `nothing` if nothing is said."""
        if self.name in LINKED or self.name in IN_ITS_FILE:
            return ()
        return tuple(each for each in self.says or ("nothing",) if each not in COMPATIBLE)

    @property
    def words(self) -> str:
        parts = dict.fromkeys(COMPATIBLE.get(each, each) for each in self.says)
        return {**LINKED, **IN_ITS_FILE}.get(self.name) or ", ".join(parts)


def packages(*, extras: bool = True) -> Iterator[Licensed]:
    """All packages that an install brings, with all extras or without any, as far as they are installed here."""
    named = {*(distribution(PROGRAM).metadata.get_all("Provides-Extra") or ())} - NOT_FOR_PEOPLE if extras else set()
    waiting, met = [(PROGRAM, extra) for extra in ("", *named)], set[tuple[str, str]]()
    found: dict[str, Licensed] = {}
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in met:
            continue
        met.add((name, extra))
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        found[name] = Licensed(name, _says(package))
        for line in package.requires or ():
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
                waiting += [(canonicalize_name(wanted.name), each) for each in ("", *wanted.extras)]
    del found[PROGRAM]
    yield from (found[name] for name in sorted(found))


def _says(package: Distribution) -> tuple[str, ...]:
    data = package.metadata
    if expressions := data.get_all("License-Expression"):
        return tuple(part.strip("() ") for part in _JOINED.split(expressions[0]))
    rows = [each.split(" :: ") for each in data.get_all("Classifier") or () if each.startswith("License")]
    if classifiers := tuple(re.sub(r".*\((MPL) 2\.0\)", "MPL-2.0", row[-1]) for row in rows if len(row) > 2):
        return classifiers
    short = "\n".join(data.get_all("License") or ()).splitlines()[:1]
    return tuple(part for line in short for part in _JOINED.split(line) if part)


def page() -> str:
    """The list in Markdown."""
    rows = "".join(f"| {each.name} | {each.words} |\n" for each in packages())
    return (
        "# Licences of the packages that come with vault-agent\n\n"
        "With all extras; what each package says of itself. vault-agent is under the MIT licence.\n\n"
        f"| package | licence |\n| --- | --- |\n{rows}"
    )


if __name__ == "__main__":
    LIST.parent.mkdir(exist_ok=True)
    LIST.write_text(page(), "utf-8")
