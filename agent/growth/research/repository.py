"""A repository, in a folder that its person has named: its README, its structure, its core files, and what others write
of it.

It is read, and nothing in it is run. Which files are its core, a model chooses from their names, or their names tell.
"""

import re
from collections.abc import Sequence
from dataclasses import field

from agent.dataclass import dataclass
from agent.growth.research.calls import CallShare
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import LIMITS, ResearchFindings, ResearchQuestion
from agent.growth.research.own_sources import FolderSource
from agent.growth.research.reading import Reading
from agent.growth.research.research_note import reported
from agent.growth.research.topic import Researcher, findings_of
from agent.texts import text

_PARTS = ("purpose", "design", "use", "state")
"""The parts of the report."""
_README = re.compile(r"readme(?:\.\w{2,4})?$", re.IGNORECASE)
_CORE = 8
"""Files that are read beside the README."""
_DISCUSSED = 2
"""Pages about it that are read."""
_LISTED = 300
"""Files from which a model chooses."""
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
    folder: FolderSource
    researchers: list[Researcher] = field(default_factory=list)

    def go(self) -> ResearchFindings:
        """All that is found, with the report; raises `Interrupted`."""
        desk, folder, share = self.desk, self.folder, CallShare(LIMITS["repository"].calls)
        files = folder.files(desk.call.cancelled)
        readme = self._read([name for name in files if "/" not in name and _README.fullmatch(name)][:1], share)
        structure = folder.structure(text("research.structure", desk.language), desk.call.cancelled)
        self._take_in([*readme, *filter(None, [desk.open(folder, structure, share)])], 1, 3)
        core = self._read(self._chosen([name for name in files if not _README.fullmatch(name)], readme), share)
        for at in range(0, len(core), _CONTEXT):
            self._take_in(core[at : at + _CONTEXT], 2, 4)
        query = f"{folder.name} {text('research.discussion', desk.language)}"  # its name alone says nothing private
        self._take_in(desk.read_web((query,), share, _DISCUSSED), 4)
        return reported(desk, self.findings())

    def findings(self) -> ResearchFindings:
        """The findings so far."""
        questions = [self._question(number) for number in range(1, len(_PARTS) + 1)]
        return findings_of(questions, self.researchers)

    def _read(self, names: Sequence[str], share: CallShare) -> list[Reading]:
        return [each for name in names if (each := self.desk.open(self.folder, Reading(name), share)) is not None]

    def _take_in(self, readings: Sequence[Reading], *parts: int) -> None:
        """Take in what these sources say for some parts of the report, the first of which it stands in."""
        if readings:
            name = self.folder.name.replace("-", " ").replace("_", " ")
            usual = f"{name} is a for with uses {text('research.usual_words', self.desk.language)}"
            words = " ".join(self._question(each).text for each in parts)
            self.researchers.append(Researcher(self.desk, ResearchQuestion(parts[0], words, (usual,))))
            self.researchers[-1].take_in(readings)

    def _question(self, number: int) -> ResearchQuestion:
        return ResearchQuestion(number, text(f"research.repository_{_PARTS[number - 1]}", self.desk.language))

    def _chosen(self, files: Sequence[str], readme: Sequence[Reading]) -> list[str]:
        """The core files: those that a model chooses by their numbers, else those whose names tell."""
        listed = [name for name in files if not _LEFT_OUT.search(name)][:_LISTED]
        rows = "\n".join(f"{at}. {name}" for at, name in enumerate(listed, 1))
        described = self.desk.framed(readme, "") or "-"
        answer = self.desk.ask("files", readme=described, files=rows, most=str(_CORE)) if listed else ""
        numbers = dict.fromkeys(int(each) for each in re.findall(r"\d{1,3}", answer))
        chosen = [listed[number - 1] for number in numbers if 0 < number <= len(listed)]
        return (chosen or telling_files(listed))[:_CORE]


def telling_files(files: Sequence[str]) -> list[str]:
    """The files whose names tell, then the others, those nearest to the top first."""
    found: list[str] = []
    for pattern in _TELLING:
        named = [name for name in files if re.fullmatch(pattern, name.rpartition("/")[2], re.IGNORECASE)]
        found += sorted(named, key=lambda name: (name.count("/"), name))[:3]
    return list(dict.fromkeys((*found, *files)))
