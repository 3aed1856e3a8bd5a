"""Every row of the tables, in their order."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from tests.bench.tables.row import Row


def _of_engines() -> Iterator[Row]:
    limits = {"tantivy": (8.0, 8.0), "whoosh": (30.0, 40.0)}
    for engine, (first, search) in limits.items():
        part = f"speed-{engine}"
        yield Row(f"first index of 10,000 notes, keywords and vectors, {engine}", part, "first", "s", first)
        yield Row(f"search at 10,000 notes, warm, p95, {engine}", part, "search", "ms", search)
        yield Row(f"`vault-agent search` from cold, 10,000 notes, median, {engine}", part, "cold", "ms", 700.0)
        yield Row(f"saved in an editor, found by search, daemon at work, p95, {engine}", part, "saved", "ms", 1000.0)


def _of_vectors() -> Iterator[Row]:
    for part, many in (("vectors-100000", "100,000"), ("vectors-1000000", "1,000,000")):
        yield Row(f"{many} passages: one question, median", part, "median", "ms")
        yield Row(f"{many} passages: one question, p95", part, "p95", "ms", 25.0)
        yield Row(f"{many} passages: recall@10", part, "recall", "", 0.97, at_least=True)
        yield Row(f"{many} passages: a note saved and read again, median", part, "saved", "ms")
        yield Row(f"{many} passages: opened", part, "opened", "s")
        yield Row(f"{many} passages: on disk", part, "disk", "MB")


def _of_sync() -> Iterator[Row]:
    rounds = {"nothing": ("a round with nothing to do, 10,000 notes", 0.3), "sent": ("one note sent", 1.0),
              "received": ("one note received", 1.0), "many": ("1,000 notes received", 8.0),
              "both": ("1,000 notes edited on both sides", None)}  # fmt: skip
    for key, (what, limit) in rounds.items():
        if key == "both":
            yield Row("1,000 notes edited on both sides: the merge alone", "sync", "merge", "s", 3.0)
        yield Row(what, "sync", key, "s", limit)
        yield Row(f"{what}: `git pull && git push`", "sync", f"{key}-git", "s")


TABLES: Mapping[str, tuple[Row, ...]] = MappingProxyType({
    "commands": (
        Row("one small durable change, beside `git add` and `git commit`, which flush nothing",
            "commit", "ratio", "×", 0.6),
        Row("one small durable change, median", "commit", "ours", "ms"),
        Row("one small durable change at 100,000 notes, beside 1,000: processor time", "writes", "ratio", "×", 4.5),
        Row("… written at 100,000 notes", "writes", "written", "KB"),
        Row("… git processes at 100,000 notes", "writes", "processes", ""),
        Row("the plan of the daily upkeep of 10,000 entries, after one new day: processor time",
            "upkeep", "next", "s", 1.0),
        Row("… the first plan, of all", "upkeep", "first", "s"),
        Row("`vault-agent --help`, median", "start", "help", "ms", 150.0),
        *(Row(f"`vault-agent {name}` from cold, 10,000 notes, no daemon, median", "start", name, "ms", limit)
          for name, limit in (("get", 110.0), ("status", 180.0), ("search", 350.0), ("remember", 500.0))),
        Row("one step of a run, without the model and the commits, median", "agent", "median", "ms"),
        Row("one step of a run, without the model and the commits, p95", "agent", "p95", "ms", 30.0),
    ),
    "quality": (
        Row("LoCoMo, one vault for each conversation: the right note among the first 5",
            "locomo", "at-5", "", 0.965, at_least=True),
        Row("… among the first 10", "locomo", "at-10", "", 0.99, at_least=True),
        Row("LoCoMo, all conversations in one vault: the right note among the first 5",
            "locomo", "together-5", "", 0.95, at_least=True),
        Row("… all in one vault, among the first 10", "locomo", "together-10", "", 0.98, at_least=True),
        Row("single turns, by passages of at most four lines: recall at 5",
            "locomo", "turns-5", "", 0.70, at_least=True),
        Row("… recall at 10", "locomo", "turns-10", "", 0.78, at_least=True),
        Row("questions about Obsidian's help in English: the right note among the first 5",
            "help", "en", "", 0.9, at_least=True),
        Row("questions about Obsidian's help in Chinese: the right note among the first 5",
            "help", "zh", "", 0.9, at_least=True),
    ),
    "search speed": (
        *_of_engines(),
        Row("search at 100,000 notes, warm, p95", "scale", "warm", "ms", 15.0),
        Row("first index of 100,000 notes", "scale", "first", "s", 240.0),
        Row("most memory of the process of that first index", "scale", "first-memory", "MB", 1_500.0),
        *(Row(f"`vault-agent {name}` from cold, 100,000 notes, no daemon, median", "scale", name, "ms", limit)
          for name, limit in (("search", 700.0), ("status", 500.0), ("remember", 400.0))),
        Row("saved in an editor, found by search, 100,000 notes, p95", "scale", "saved", "ms", 1000.0),
        Row("a vault of 1,000,000 passages: first index", "passages", "first", "s"),
        Row("… processor time of it", "passages", "first-processor", "s"),
        Row("… most memory of its process", "passages", "first-memory", "MB", 1_500.0),
        Row("… search, warm, p95 of the processor time", "passages", "search", "ms", 40.0),
        Row("… recall@10 of the notes that are nearest by meaning", "passages", "recall", "", 0.97, at_least=True),
        Row("… memory of a daemon at rest", "passages", "rest", "MB", 800.0),
        Row("… memory of it after 15 saves", "passages", "after", "MB", 800.0),
        Row("… memory of it after it was asked 5 times", "passages", "asked", "MB", 800.0),
        Row("… saved in an editor, found by search, p95", "passages", "saved", "ms", 1000.0),
        Row("a `git checkout` that changes 10,000 files: all indexed", "checkout", "indexed", "s", 30.0),
        Row("… memory of the daemon before it, at rest on 10,000 notes", "checkout", "rest", "MB", 120.0),
        Row("… and how much the daemon grows at its peak", "checkout", "growth", "MB", 150.0),
        Row("idle daemon, a minute: commits", "checkout", "commits", "", 0.0),
        Row("idle daemon, a minute: share of one processor", "checkout", "share", "%", 0.1),
    ),
    "vectors": tuple(_of_vectors()),
    "machines": (
        *_of_sync(),
        Row("100,000 commits, 10,000 notes: `log NOTE`", "history", "log-note", "ms", 300.0),
        Row("… the first `log NOTE`, which makes the index", "history", "first-log", "s"),
        Row("… `log`", "history", "log", "ms", 300.0),
        Row("… `log --run`, a recent run", "history", "log-recent", "ms", 300.0),
        Row("… `log --run`, an old run", "history", "log-old", "ms", 300.0),
        Row("… the plan of `undo --run`, of a recent run", "history", "undo-recent", "ms", 2_000.0),
        Row("… the plan of `undo --run`, of an old run", "history", "undo-old", "ms", 2_000.0),
        Row("… `status`", "history", "status", "ms", 300.0),
    ),
})  # fmt: skip
"""The rows by the name of their table."""
