"""A vault whose research reaches a web of the test's own: pages by address, and a search engine over them, both served
on this machine; and a model whose behaviour is planted."""

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from agent.app.agent import opened_runs
from agent.errors import AgentError
from agent.growth.research.findings import Research, ResearchCall, ResearchKind
from agent.growth.research.own_sources import FolderSource
from agent.growth.research.reading import words_of
from agent.growth.research.research import commit_research, research
from agent.llm.known_models import Price
from agent.llm.ledger import SpendScope
from agent.llm.messages import Assistant, Cancelled, Model, OnText, Reply, Request, Usage, User, ignore, never
from agent.llm.providers import Providers
from agent.llm.spend import Meter
from agent.loop.agent import Models
from agent.runs.service import RunService
from agent.tools.builtin.web import LIMITS, FetchLimits
from tests.growth.work import Office, office
from tests.tools.sites import Answer, Site, answer, request_head, served

RESULTS = 12


def page(title: str, *paragraphs: str, date: str = "") -> bytes:
    """A page with a title and paragraphs, in a frame as pages have."""
    stamp = f'<meta property="article:published_time" content="{date}">' if date else ""
    body = "".join(f"<p>{each}</p>" for each in paragraphs)
    menu = "<nav><a href='/'>Home</a><a href='/a'>About</a></nav>"
    return answer(f"<html><head><title>{title}</title>{stamp}</head><body>{menu}<main><h1>{title}</h1>{body}</main>")


@dataclass
class Web(Site):
    """Pages by their whole address, and what the engine knows of each (title, excerpt); `queries` are those that it was
    asked. It finds the pages whose title and excerpt have most words of the query."""

    known: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def serve(self, connection: socket.socket) -> None:
        head = request_head(connection)
        if not head:
            return
        path = head.split(b" ", 2)[1].decode("latin-1")
        host = re.search(rb"(?i)\r\nhost: ([^\r\n]+)", head)
        named = host[1].decode("latin-1") if host else ""
        if path.startswith("/search?") and named.startswith("127.0.0.1"):
            connection.sendall(self._results(parse_qs(urlsplit(path).query).get("q", [""])[0]))
            return
        address = f"http://{named}{path}"
        with self._lock:
            self.fetched.append(address)
        self.give(connection, address)

    def _results(self, query: str) -> bytes:
        with self._lock:
            self.queries.append(query)
        words = words_of(query)
        rated = [(len(words & words_of(f"{title} {shown}")), url) for url, (title, shown) in self.known.items()]
        best = sorted((each for each in rated if each[0]), key=lambda each: (-each[0], each[1]))[:RESULTS]
        rows = [{"url": url, "title": self.known[url][0], "content": self.known[url][1]} for _, url in best]
        return answer(json.dumps({"results": rows}), kind="application/json")

    @property
    def engine(self) -> str:
        """The address of the engine."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def web(
    answers: Mapping[str, Answer],
    known: Mapping[str, tuple[str, str]] | None = None,
    hosts: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[Web]:
    """The web with these pages; the engine knows them by their addresses if nothing else is said."""
    titles = {url: (url.rpartition("/")[2].replace("-", " "), "") for url in answers}
    with served(Web(answers, hosts or {}, known=titles if known is None else known)) as made:
        yield made


Think = Callable[[str, str], str]
"""Function from the name of the prompt and the whole prompt to the answer."""
_PROMPTS = {
    "Plan a research": "outline",
    "You are one of several researchers": "statements",
    "You are the critic": "critic",
    "Write the report": "report",
    "Judge whether": "fact",
    "Choose the files": "files",
}


@dataclass
class Thinker:
    """A model that answers as `think` says; `asked` has the name of each prompt, and `prompts` their texts."""

    think: Think
    asked: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    usage: Usage = Usage(1_000, 100)

    @property
    def model(self) -> Model:
        return Model("thinker", 32_768, 2_048)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        prompt = next(each.text for each in reversed(request.messages) if isinstance(each, User))
        name = next(name for begin, name in _PROMPTS.items() if prompt.startswith(begin))
        assert not request.tools, "a model that reads what strangers wrote has no tools"
        self.asked.append(name)
        self.prompts.append(prompt)
        return Reply(Assistant(self.think(name, prompt)), self.usage, "end", "thinker")


def sources_in(prompt: str) -> dict[int, str]:
    """The sources that a prompt shows, by number."""
    found = re.split(r"^Source (?:<untrusted source=\")?\[(\d+)\]", prompt, flags=re.MULTILINE)
    return {int(number): words for number, words in zip(found[1::2], found[2::2], strict=True)}


def sentences_with(word: str, prompt: str) -> list[tuple[int, str]]:
    """The sentences of the sources in a prompt that have a word, each with the number of its source."""
    return [
        (number, " ".join(each.split()))
        for number, words in sources_in(prompt).items()
        for each in re.findall(r"(?:[^.。\n]|\.(?=\d))+[.。]", words)
        if word in each
    ]


def usual(word: str, *questions: str) -> Think:
    """A model that plans these questions, reads out the sentences with a word, and reports all statements."""

    def think(name: str, prompt: str) -> str:
        match name:
            case "outline":
                return "\n".join(f"- {each}" for each in questions)
            case "statements":
                rows = [f"- {words} [{number}]" for number, words in sentences_with(word, prompt)]
                return "\n".join(rows) or "NOTHING"
            case "report":
                return "\n".join(re.findall(r"^- (?!.*differs)(.*\[\d+\].*)$", prompt, re.MULTILINE))
            case _:
                return "NOTHING"

    return think


@dataclass
class Study:
    """One vault, its web, and its model (None: none)."""

    made: Office
    web: Web
    thinker: Thinker | None = None
    limits: FetchLimits = LIMITS

    def go(
        self,
        topic: str,
        kind: ResearchKind = "topic",
        *,
        cancelled: Cancelled = never,
        folders: tuple[FolderSource, ...] = (),
        commit: bool = True,
    ) -> Research:
        """Do a research as the command does it, and commit what came of it."""
        with self.runs() as runs:
            call = ResearchCall(topic, kind, folders, cancelled=cancelled, network=self.web.network, limits=self.limits)
            found = research(runs, call)
            if commit:
                commit_research(runs, found, call)
            return found

    @contextmanager
    def runs(self) -> Iterator[RunService]:
        with opened_runs(self.made.workspace) as runs:
            if self.thinker is not None:
                self._think(runs, self.thinker)
            yield runs

    def _think(self, runs: RunService, thinker: Thinker) -> None:
        spend, clock = runs.workspace.settings.spend, self.made.clock

        def of_run(run: str, job: str, limit: float | None = None, /) -> Models:
            scope, price = SpendScope(run, job), Price(2.0, 10.0, 0.5)
            meter = Meter(thinker, runs.account.ledger, spend, price, runs.agent.count, clock, scope)
            return Models(meter, meter)

        runs.account = replace(runs.account, models=Providers(thinker, thinker), of_run=of_run)

    def note(self, name: str) -> str:
        return self.made.text(f"research/{name}.md")


@contextmanager
def studying(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answers: Mapping[str, Answer],
    think: Think | None = None,
    *,
    notes: Mapping[str, str] | None = None,
    known: Mapping[str, tuple[str, str]] | None = None,
    hosts: Mapping[str, Sequence[str]] | None = None,
    engine: bool = True,
    language: str = "en",
) -> Iterator[Study]:
    """A vault with these notes that reaches these pages."""
    with web(answers, known, hosts) as found:
        if engine:
            monkeypatch.setenv("VAULT_AGENT_RESEARCH__SEARXNG__BASE_URL", found.engine)
        made = office(tmp_path, monkeypatch, dict(notes or {}), language=language)
        yield Study(made, found, Thinker(think) if think is not None else None)


def refused(error: AgentError) -> str:
    """What a person reads of an error."""
    return f"{error.message} {error.hint}"
