"""The programs that are compared: how each indexes, searches, serves and takes in what was saved."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.peers import bare_tantivy
from tests.bench.peers.ground import Ground, ToolServer, started

Search = Callable[[str], list[str]]
"""The paths of ten notes, the best first."""


@dataclass(frozen=True, slots=True)
class Served:
    """A program that is at work: how it searches, its process, and what must be done after a save (nothing where it
    watches the notes)."""

    search: Search
    process: int
    after_save: Callable[[str], object] = lambda path: None


@dataclass(frozen=True, slots=True)
class Peer:
    """A program: its name, what must be on PATH, how it indexes, what one cold search finds, and how it serves."""

    name: str
    program: str
    index: Callable[[Ground], object]
    search: Callable[[Ground, str], list[str]]
    serve: "Callable[[Ground], AbstractContextManager[Served]] | None" = None
    environ: dict[str, str] = field(default_factory=dict)


def _words(query: str) -> list[str]:
    return [word for word in re.findall(r"\w+", query) if len(word) > 2 or not word.isascii()]


def _vault_agent(ground: Ground, *arguments: str) -> str:
    return ground.run(sys.executable, "-m", "agent", *arguments)


def _index_ours(ground: Ground) -> None:
    if not (ground.notes / "vault-agent.yaml").exists():
        (ground.notes / "vault-agent.yaml").write_text("", "utf-8")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "notes"]):
        ground.run("git", "-c", "user.name=Bench", "-c", "user.email=bench@localhost", *command)
    _vault_agent(ground, "index")


def _search_ours(ground: Ground, query: str) -> list[str]:
    return [hit["path"] for hit in json.loads(_vault_agent(ground, "search", "--json", "--", query))["hits"]]


@contextmanager
def _serve_ours(ground: Ground) -> Iterator[Served]:
    with (
        started(ground, [sys.executable, "-m", "agent", "daemon"]) as daemon,
        _tools(ground, sys.executable, "-m", "agent", "mcp") as server,
    ):

        def search(query: str) -> list[str]:
            text: str = server.tool("search", {"query": query, "limit": 10})
            return list(dict.fromkeys(re.findall(r"^\d+\. (.+?\.md), lines? ", text, re.MULTILINE)))

        yield Served(search, daemon.pid)


def _search_by_lines(*command: str) -> Callable[[Ground, str], list[str]]:
    """The notes with the most lines that have one of the question's words; what a person does with `grep -ric`."""

    def search(ground: Ground, query: str) -> list[str]:
        options = [option for word in _words(query) for option in ("-e", word)]
        lines = ground.run(*command, *options, ".", ok=(0, 1)).splitlines() if options else []
        counts = {path.removeprefix("./"): int(count) for path, _, count in (line.rpartition(":") for line in lines)}
        return [path for path in sorted(counts, key=lambda path: (-counts[path], path)) if counts[path]][:10]

    return search


def _serve_by_lines(search: Callable[[Ground, str], list[str]]) -> "Callable[[Ground], AbstractContextManager[Served]]":
    """What reads all notes each time needs no server."""

    @contextmanager
    def serve(ground: Ground) -> Iterator[Served]:
        yield Served(lambda query: search(ground, query), 0)

    return serve


def _tantivy(ground: Ground, what: str, *arguments: str) -> str:
    places = [str(ground.notes)] * (what != "search")
    return ground.run(sys.executable, bare_tantivy.__file__, what, *places, str(ground.home / "index"), *arguments)


@contextmanager
def _serve_tantivy(ground: Ground) -> Iterator[Served]:
    command = [sys.executable, bare_tantivy.__file__, "serve", str(ground.notes), str(ground.home / "index")]
    with started(ground, command, has_streams=True) as process:
        assert process.stdin is not None and process.stdout is not None
        lines, answers = process.stdin, process.stdout

        def ask(**question: str) -> list[str]:
            lines.write(json.dumps(question) + "\n")
            lines.flush()
            found: list[str] = json.loads(answers.readline())
            return found

        yield Served(lambda query: ask(query=query), process.pid, lambda path: ask(query="a", save=path))


def _index_qmd(ground: Ground) -> None:
    ground.run("qmd", "collection", "add", str(ground.notes), "--name", "bench")


def _search_qmd(ground: Ground, query: str) -> list[str]:
    out = ground.run("qmd", "search", query, "-n", "10", "--json")
    return [_of_qmd(hit) for hit in json.loads(out[out.index("[") :] if "[" in out else "[]")]


def _of_qmd(hit: dict[str, str]) -> str:
    return hit["file"].removeprefix("qmd://").removeprefix("bench/")


@contextmanager
def _serve_qmd(ground: Ground) -> Iterator[Served]:
    with _tools(ground, "qmd", "mcp") as server:

        def search(query: str) -> list[str]:
            words = {"searches": [{"type": "lex", "query": query}], "limit": 10, "rerank": False}
            return [_of_qmd(hit) for hit in server.tool("query", words)["results"]]

        yield Served(search, server.process.pid, lambda path: ground.run("qmd", "update"))


def _index_basic_memory(ground: Ground) -> None:
    ground.run("basic-memory", "project", "add", "bench", str(ground.notes), "--default")
    ground.run("basic-memory", "reset", "--reindex", given="y\n")


def _search_basic_memory(ground: Ground, query: str) -> list[str]:
    out = ground.run("basic-memory", "tool", "search-notes", query)
    return _of_basic_memory(json.loads(out[out.index("{") :]) if "{" in out else {"results": []})


def _of_basic_memory(found: dict[str, list[dict[str, str]]]) -> list[str]:
    return list(dict.fromkeys(hit["file_path"] for hit in found["results"]))


@contextmanager
def _serve_basic_memory(ground: Ground) -> Iterator[Served]:
    with _tools(ground, "basic-memory", "mcp") as server:

        def search(query: str) -> list[str]:
            wanted = {"query": query, "project": "bench", "page_size": 10, "output_format": "json"}
            found = server.tool("search_notes", wanted)
            return _of_basic_memory(found.get("result", found))

        yield Served(search, server.process.pid)


def _memsearch(ground: Ground, what: str, *arguments: str) -> str:
    place = ["--milvus-uri", str(ground.home / "milvus.db"), "-p", "openai", "--api-key", "none", "-m", "shipped"]
    return ground.run("memsearch", what, *arguments, *place, "--base-url", ground.environ["EMBEDDINGS"])


def _search_memsearch(ground: Ground, query: str) -> list[str]:
    out = _memsearch(ground, "search", query, "-k", "20", "-j")
    found = json.loads(out[out.index("[") :]) if "[" in out else []
    paths = (Path(hit["source"]).resolve() for hit in found)
    return list(dict.fromkeys(str(path.relative_to(ground.notes.resolve())) for path in paths))[:10]


@contextmanager
def _tools(ground: Ground, *command: str) -> Iterator[ToolServer]:
    with started(ground, command, has_streams=True) as process:
        server = ToolServer(process)
        server.begin()
        yield server


_grep = _search_by_lines("grep", "-ricF", "--include=*.md")
_ripgrep = _search_by_lines("rg", "-icF", "--glob=*.md", "--no-ignore", "--threads=2")
PEERS = (
    Peer("vault-agent, tantivy", sys.executable, _index_ours, _search_ours, _serve_ours,
         {"VAULT_AGENT_INDEX__KEYWORD": "tantivy"}),
    Peer("vault-agent, Whoosh", sys.executable, _index_ours, _search_ours, _serve_ours,
         {"VAULT_AGENT_INDEX__KEYWORD": "whoosh"}),
    Peer("grep", "grep", lambda ground: None, _grep, _serve_by_lines(_grep)),
    Peer("ripgrep", "rg", lambda ground: None, _ripgrep, _serve_by_lines(_ripgrep)),
    Peer("bare tantivy", sys.executable, lambda ground: _tantivy(ground, "index"),
         lambda ground, query: list(json.loads(_tantivy(ground, "search", query))), _serve_tantivy),
    Peer("qmd, keywords", "qmd", _index_qmd, _search_qmd, _serve_qmd),
    Peer("Basic Memory", "basic-memory", _index_basic_memory, _search_basic_memory, _serve_basic_memory),
    Peer("memsearch", "memsearch", lambda ground: _memsearch(ground, "index", str(ground.notes)), _search_memsearch),
)  # fmt: skip
"""qmd is measured by its keywords, as its models come from a hub; memsearch with the vectors that vault-agent ships."""
