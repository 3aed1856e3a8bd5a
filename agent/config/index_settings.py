"""Settings of search and of the watcher that keeps it up to date."""

from typing import Annotated, Literal

from agent.config.values import Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Settings of search."""

    engine: Literal["files", "postgres"]
    """Where the index is. Default `files`: each machine has its own. `postgres`: the machines of a vault share one in
    the database of `database.url`, which one of them writes and all search; it needs the extra `postgres`."""

    keyword: Literal["auto", "whoosh", "tantivy"]
    """The keyword engine of an index in files. Default `auto`: tantivy if the extra `fast` is installed, else Whoosh,
    which always is."""

    model: str
    """The embedding model: a name in the local hub cache such as `minishlab/potion-multilingual-128M`, the whole path
    of a folder with a model2vec model, or `shipped`, the vectors that come with the program. Default `auto`: that
    multilingual model if it is in the hub cache, else `shipped`. Nothing is downloaded. A model of 500,000 words takes
    about 10 s to load: a daemon loads it once, and each command that searches loads it for itself."""


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """Settings of the watcher of files."""

    quiet_seconds: Annotated[float, Range(0, 60, "seconds")]
    """The time without changes before a file is checked, in seconds. Default 0.2: a save takes a few milliseconds, and
    a person waits for the search to find it."""

    scan_seconds: Annotated[float, Range(1, 86_400, "seconds")]
    """The time between two comparisons of all files with the known state, in seconds, while files change, and where
    they can without a word of the system, as in a network's folder. Default 240: a change that the system did not
    report is found within five minutes."""

    still_scan_seconds: Annotated[float, Range(1, 604_800, "seconds")]
    """The same, if longer, while no file changes on a Linux machine's own disk, in seconds. Default 3600: there the
    system reports every change, and what it loses are some of many, so that others are heard of."""
