"""Twenty pages of our own making, each with the text that a person would call its own, and a score for a reader."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from agent.attachments.html.page import read_page

FOLDER = Path(__file__).with_name("pages")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_TERM = re.compile(r"[\u3400-\u9fff]|[a-z0-9_.²€%#'-]*[a-z0-9_²€%]", re.IGNORECASE)
Reader = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Sample:
    """A page with its own text."""

    name: str
    html: str
    text: str


@dataclass(frozen=True, slots=True)
class Score:
    """How much of a reader's text is the page's own, and how much of the page's own text is there, from 0 to 1."""

    precision: float
    recall: float

    @property
    def mean(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def samples() -> tuple[Sample, ...]:
    paths = sorted(FOLDER.glob("*.html"))
    return tuple(Sample(each.stem, each.read_text(), each.with_suffix(".txt").read_text()) for each in paths)


def score(text: str, wanted: str) -> Score:
    """The share of words (of characters in Chinese) that two texts have in common; the order does not count, and a word
    twice counts twice."""
    found, own = Counter(_terms(text)), Counter(_terms(wanted))
    common = sum((found & own).values())
    return Score(common / max(found.total(), 1), common / max(own.total(), 1))


def _terms(text: str) -> list[str]:
    plain = _LINK.sub(r"\1", text)
    return [each.strip(".-'").casefold() for each in _TERM.findall(plain)]


def ours(html: str) -> str:
    return read_page(html, "https://example.org/page").text


def trafilatura() -> Reader | None:
    """The other reader, for comparison; None where it is not installed."""
    if find_spec("trafilatura") is None:
        return None
    module = import_module("trafilatura")
    return lambda html: (
        module.extract(html, output_format="markdown", include_comments=False, with_metadata=False) or ""
    )


def table(readers: dict[str, Reader]) -> str:
    """A row for each page, and the mean of all, for each reader."""
    rows = ["page".ljust(28) + "".join(f"{name:>28}" for name in readers)]
    means: dict[str, list[float]] = {name: [] for name in readers}
    for each in samples():
        row = each.name.ljust(28)
        for name, read in readers.items():
            found = score(read(each.html), each.text)
            means[name].append(found.mean)
            row += f"{found.mean:>12.3f} (p {found.precision:.2f} r {found.recall:.2f})"
        rows.append(row)
    rows.append("mean".ljust(28) + "".join(f"{sum(all_) / len(all_):>12.3f}".ljust(28) for all_ in means.values()))
    return "\n".join(rows)
