"""Events of what the agent has noticed by itself, as frozen values: plain data, so that every layer can import them."""

from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PatternDetected:
    """A pattern was found that was not known before. `pattern` is its id, `kind` that of its detector, `frequency` the
    number of its cases."""

    pattern: str
    kind: str
    name: str
    confidence: float
    frequency: int


@dataclass(frozen=True, slots=True)
class LessonChanged:
    """Something became of the lesson that a link to `target` names (empty: it has no row yet): the `event` as
    `lessons/log.md` has it, such as `probation` or `deprecated`, by the agent or the person."""

    target: str
    event: str
    by: str


@dataclass(frozen=True, slots=True)
class ReflectionWritten:
    """A reflection was written into the note at `path`: why (`trigger` is task, error, day or feedback), on which runs,
    and with how many strategies. `is_clean`: these runs have read no text of others."""

    path: str
    trigger: str
    runs: tuple[str, ...]
    strategies: int
    is_clean: bool


@dataclass(frozen=True, slots=True)
class ResearchStep:
    """A research begins a step: `what` is search, read or ask, `subject` the query, the address or the prompt.

    `run` is its account. So many `sources` are read, and so many `calls` of at most `most` were begun.
    """

    run: str
    what: str
    subject: str
    sources: int
    calls: int
    most: int
