"""A repository, in a folder that its person has named: its README, its structure, its core files, and what is said
of it.

It is read, and nothing in it is run. Which files are its core, a model chooses from their names, or their names tell.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import field, replace

from agent.dataclass import dataclass
from agent.growth.research.authority import ranked
from agent.growth.research.budget import BudgetSpent, CallShare
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import ResearchFindings, ResearchGap
from agent.growth.research.folder_source import FolderSource
from agent.growth.research.kinds import LIMITS
from agent.growth.research.outline import ResearchQuestion
from agent.growth.research.researcher import ResearchGround
from agent.growth.research.source import Lead, Reading, ResearchSource
from agent.growth.research.statements import CitedStatement, FoundMethod, found_disputes, quoted, read_out
from agent.growth.research.write_report import report_of
from agent.texts import text

_PARTS = ("repository_purpose", "repository_design", "repository_use", "repository_state")
"""The parts of the report."""
_README = re.compile(r"readme(?:\.\w{2,4})?$", re.IGNORECASE)
_CORE = 8
"""Files that are read beside the README."""
_DISCUSSED = 2
"""Pages about it that are read."""
_LISTED = 300
_STATEMENTS = 14
_CONTEXT = 4
"""Files that a model sees at a time."""
_TELLING = (
    r"(?:pyproject\.toml|setup\.cfg|package\.json|cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|gemfile|mix\.exs"
    r"|composer\.json|cmakelists\.txt|makefile|dockerfile|docker-compose\.ya?ml)",
    r"(?:architecture|design|overview|contributing|changelog|changes|history|roadmap|news)(?:\.\w{2,4})?",
    r"(?:main|__main__|app|index|lib|mod|server|cli|core|engine|program|cmd)\.(?:py|rs|go|[jt]sx?|java|kt|rb|c|cc|cpp|cs"
    r"|swift|ex|php|scala|hs|ml|zig)",
)
"""Names that tell: what it is built from, what documents it, where it begins."""
_LEFT_OUT = re.compile(
    r"(?:^|/)(?:tests?|testdata|fixtures?|examples?|spec|i18n|locales?|assets|static|img)(?:/|$)|\.lock$|(?:^|/)test_"
)


@dataclass(slots=True)
class RepositoryStudy:
    """The work on a repository."""

    desk: ResearchDesk
    ground: ResearchGround
    folder: FolderSource
    readings: list[Reading] = field(default_factory=list)
    statements: list[CitedStatement] = field(default_factory=list)
    methods: list[FoundMethod] = field(default_factory=list)
    missing: list[ResearchGap] = field(default_factory=list)
    refused: int = 0

    def go(self) -> ResearchFindings:
        """All that is found, with the report; raises `Interrupted`."""
        share = CallShare(LIMITS["repository"].calls)
        with suppress(BudgetSpent):
            self._read_files(share)
        with suppress(BudgetSpent):
            self._read_what_is_said(share)
        found = self.findings()
        return replace(found, report=report_of(self.desk, found))

    def findings(self) -> ResearchFindings:
        """What is found so far."""
        return ResearchFindings(
            self.questions,
            tuple({each.text.casefold(): each for each in self.statements}.values()),
            found_disputes(self.statements, lambda one, other: False),
            tuple(dict.fromkeys(self.missing)),
            tuple(self.methods),
            refused=self.refused,
        )

    @property
    def questions(self) -> tuple[ResearchQuestion, ...]:
        """The parts of the report."""
        words = (text(f"research.{part}", self.desk.note_language) for part in _PARTS)
        return tuple(ResearchQuestion(at, each, ()) for at, each in enumerate(words, 1))

    def _read_files(self, share: CallShare) -> None:
        """The README, the structure, and then the core files."""
        files = self.folder.files(self.desk.cancelled)
        first = [self._opened(name, share) for name in files if "/" not in name and _README.fullmatch(name)][:1]
        structure = self.desk.listing(self.folder, structure_of(files), share)
        start = [each for each in (*first, structure) if each is not None]
        self._read_out(start, (1, 3))
        core = self._chosen([name for name in files if not _README.fullmatch(name)], start)
        found = [each for each in (self._opened(name, share) for name in core) if each is not None]
        for at in range(0, len(found), _CONTEXT):
            self._read_out(found[at : at + _CONTEXT], (2, 4))

    def _read_what_is_said(self, share: CallShare) -> None:
        """What others write about it, if there is an engine; searched by its name alone, which says nothing private."""
        web = self.ground.web
        if web is None:
            return
        leads = [*web.leads()]
        if web.engines:
            query = f"{self.folder.name} {text('research.discussion', self.desk.note_language)}"
            leads += ranked(self.desk.search(web, query, share), "repository")
        found: list[Reading] = []
        for each in leads:
            opened = self._opened_page(web, each, share)
            found += [opened] if opened is not None else []
            if len(found) >= _DISCUSSED:
                break
        self._read_out(found, (4,))

    def _opened(self, name: str, share: CallShare) -> Reading | None:
        return self._opened_page(self.folder, Lead(name), share)

    def _opened_page(self, source: ResearchSource, lead: Lead, share: CallShare) -> Reading | None:
        found = self.desk.open(source, lead, share)
        self.readings += [found] if found is not None else []
        return found

    def _chosen(self, files: Sequence[str], start: Sequence[Reading]) -> list[str]:
        """The core files: those that a model chooses by their numbers, else those whose names tell."""
        listed = [name for name in files if not _LEFT_OUT.search(name)][:_LISTED]
        rows = "\n".join(f"{at}. {name}" for at, name in enumerate(listed, 1))
        readme = self.desk.shown(start[:1], "") if start else "-"
        answer = ""
        if listed:
            answer = self.desk.ask("files", topic=self.desk.topic, readme=readme, files=rows, most=str(_CORE))
        numbers = [int(each) for each in re.findall(r"\d{1,3}", answer)]
        chosen = [listed[number - 1] for number in dict.fromkeys(numbers) if 0 < number <= len(listed)]
        return (chosen or telling_files(listed))[:_CORE]

    def _read_out(self, readings: Sequence[Reading], parts: Sequence[int]) -> None:
        """Take in what these sources say for some parts of the report."""
        if not readings:
            return
        named = [each for each in self.questions if each.number in parts]
        question = " ".join(each.text for each in named)
        known = {each.number: each for each in readings}
        answer = self.desk.ask(
            "statements",
            topic=self.desk.topic,
            question=question,
            sources=self.desk.shown(readings, question),
            most=str(_STATEMENTS),
            language=self.desk.language,
        )
        found = read_out(answer, known, parts[0])
        self.refused += found.refused
        self.methods += found.methods
        self.missing += (ResearchGap(parts[0], words) for words in found.missing)
        self.statements += found.statements or self._quoted(readings, parts[0], is_read=bool(answer))

    def _quoted(self, readings: Iterable[Reading], part: int, *, is_read: bool) -> Sequence[CitedStatement]:
        words = self.folder.name.replace("-", " ").replace("_", " ")
        query = f"{self.desk.topic} {words} is a for with uses {text('research.usual_words', self.desk.note_language)}"
        texts = (each for each in readings if each.address.endswith((".md", ".rst", ".txt")) or each.is_public)
        return () if is_read and self.statements else quoted(texts, query, part)


def structure_of(files: Sequence[str]) -> str:
    """The structure of a repository: how many files of which kind each of its folders has."""
    folders: dict[str, Counter[str]] = {}
    for name in files:
        parts = name.split("/")
        folder = "/".join(parts[:-1][:2]) or "."
        ending = parts[-1].rpartition(".")[2] if "." in parts[-1] else parts[-1]
        folders.setdefault(folder, Counter())[ending] += 1
    kinds = {folder: ", ".join(f"{n} {kind}" for kind, n in held.most_common(4)) for folder, held in folders.items()}
    rows = [f"{folder}/: {folders[folder].total()} files ({kinds[folder]})" for folder in sorted(folders)]
    top = ", ".join(name for name in files if "/" not in name)
    return "\n".join([f"{len(files)} files that can be read. At the top: {top}", *rows[:_LISTED]])


def telling_files(files: Sequence[str]) -> list[str]:
    """The files whose names tell, then the others, those nearest to the top first."""
    found: list[str] = []
    for pattern in _TELLING:
        named = [name for name in files if re.fullmatch(pattern, name.rpartition("/")[2], re.IGNORECASE)]
        found += sorted(named, key=lambda name: (name.count("/"), name))[:3]
    return list(dict.fromkeys((*found, *files)))
