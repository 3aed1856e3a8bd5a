"""The documentation that travels with the program: one page a topic, in each language, read and searched without a
network."""

from functools import cache
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import Unknown
from agent.texts import ENGLISH, Language, joined

ORDER = (
    *("start", "models", "talk", "needs", "undo", "memory", "search", "obsidian", "dashboard", "vault"),
    *("capture", "import", "jobs", "calendars", "notices", "channels", "skills", "lessons", "patterns", "research"),
    *("sync", "database", "trust", "settings", "servers", "mcp", "editors", "api", "desktop", "commands", "limits"),
)
"""The names of all topics, in the order in which they are listed and read."""
_FOLDER = Path(__file__).parents[1] / "docs"


@dataclass(frozen=True, slots=True)
class GuidePage:
    """A page of the documentation: `text` is its Markdown below the title."""

    name: str
    title: str
    text: str

    @property
    def page(self) -> str:
        """The whole page."""
        return f"# {self.title}\n\n{self.text}"


@dataclass(frozen=True, slots=True)
class GuideLine:
    """A line of a topic that has the words that were searched."""

    topic: GuidePage
    line: str


@cache
def topics(language: Language) -> tuple[GuidePage, ...]:
    """All topics in a language."""
    return tuple(_load(name, language) for name in ORDER)


def find_topic(name: str, language: Language) -> GuidePage:
    """The topic of this name or title; raises `Unknown`."""
    wanted = name.strip().casefold()
    for topic in topics(language):
        if wanted in (topic.name, topic.title.casefold()):
            return topic
    from difflib import get_close_matches

    near = get_close_matches(wanted, ORDER, n=1)
    hint = "did you mean {names}?" if near else "the pages are: {names}"
    raise Unknown("there is no page {name}", hint=hint, name=name, names=joined(near or ORDER, ", "))


def search_topics(words: str, language: Language) -> tuple[GuideLine, ...]:
    """The lines with all the words, in the order of the topics; those of a topic whose title has them come first."""
    wanted = words.casefold().split()
    if not wanted:
        return ()
    found = [
        GuideLine(topic, line.strip())
        for topic in topics(language)
        for line in [topic.title, *topic.text.splitlines()]
        if all(word in line.casefold() for word in wanted)
    ]
    return tuple(sorted(found, key=lambda each: each.line != each.topic.title))


def _load(name: str, language: Language) -> GuidePage:
    file = _FOLDER / language / f"{name}.md"
    written = file if file.is_file() else _FOLDER / ENGLISH / file.name
    title, _, text = written.read_text("utf-8").partition("\n")
    return GuidePage(name, title.removeprefix("# "), text.strip())
