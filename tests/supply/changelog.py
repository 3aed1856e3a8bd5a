"""A draft of the next section of the changelog: `python -m tests.supply.changelog [SINCE]`.

What a person notices has changed a page of the documentation, and is listed under that page's title with the subject of
its commit; everything else is counted. SINCE is a tag or commit, by default the last tag. A person makes of the draft
what others want to read, and puts it into `.github/CHANGELOG.md`.
"""

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHANGELOG = ROOT / ".github/CHANGELOG.md"
PAGES = "agent/docs/en/"
_TABLES = frozenset(("commands.md", "settings.md", "api.md", "limits.md"))
"""Pages that list what others explain: a change belongs to another page that it has changed, if there is one."""


@dataclass(frozen=True, slots=True)
class Noticed:
    """A commit that changed pages of the documentation."""

    subject: str
    pages: tuple[str, ...]

    @property
    def page(self) -> str:
        return min(self.pages, key=lambda each: (each in _TABLES, each))


def last_tag(root: Path = ROOT) -> str:
    """The last version's tag; empty before the first one."""
    return _git(root, "describe", "--tags", "--abbrev=0", "--match", "v*", check=False).strip()


def changes(root: Path, since: str) -> tuple[list[Noticed], int]:
    """What people notice since a commit or tag (empty: from the first one), newest first, and how many commits else."""
    revisions = f"{since}..HEAD" if since else "HEAD"
    log = _git(root, "log", "--no-merges", "--name-only", "--format=%x1e%s%x1f", revisions)
    noticed, others = [], 0
    for subject, files in _rows(log):
        pages = tuple(each.removeprefix(PAGES) for each in files if each.startswith(PAGES))
        if pages:
            noticed.append(Noticed(subject, pages))
        else:
            others += 1
    return noticed, others


def draft(root: Path = ROOT, since: str | None = None) -> str:
    """The section in Markdown."""
    noticed, others = changes(root, last_tag(root) if since is None else since)
    by_page = defaultdict[str, list[str]](list)
    for each in noticed:
        by_page[_title(root, each.page)].append(each.subject)
    parts = [f"### {title}\n\n" + "".join(f"- {each}\n" for each in by_page[title]) for title in sorted(by_page)]
    return "\n".join(("## Unreleased\n", *parts, f"And {others} changes that no page tells of.\n"))


def _rows(log: str) -> Iterator[tuple[str, Sequence[str]]]:
    for row in log.split("\x1e")[1:]:
        subject, _, files = row.partition("\x1f")
        yield subject, files.split("\n")


def _title(root: Path, page: str) -> str:
    file = root / PAGES / page
    first = file.read_text("utf-8").partition("\n")[0] if file.is_file() else page.removesuffix(".md")
    return first.lstrip("# ")


def _git(root: Path, *words: str, check: bool = True) -> str:
    return subprocess.run(["git", *words], cwd=root, check=check, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.stdout.write(draft(since=sys.argv[1] if sys.argv[1:] else None))
