"""Events of conversations and runs, as frozen values: plain data, so that every layer can import them.

A run is one task from its start to its outcome; a session is a conversation in one note, with any number of runs.

How a run has ended, in words for the subject of a commit, and read from one in whichever language.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from agent.dataclass import dataclass
from agent.texts import LANGUAGES, Sentence, translated

_WORDS: Mapping[str, Sentence] = MappingProxyType(
    {
        "finished": Sentence("finished"),
        "limit": Sentence("at a limit"),
        "needs_approval": Sentence("needs approval"),
        "question_asked": Sentence("question asked"),
        "interrupted": Sentence("interrupted"),
        "failed": Sentence("failed"),
    }
)


_RECORD = re.compile(r"(?:session: ([\w ]+)|inbox\(([\w ]+)\))(?:: |：)(.+)")


def parse_record_subject(subject: str) -> tuple[str, str] | None:
    """The outcome (as `RunOutcome` has it) and the task in the subject of a commit with the record of a run, or with
    the answer in a note; None for any other."""
    found = _RECORD.fullmatch(subject)
    if found is None:
        return None
    words = found[1] or found[2]
    outcomes = (key for each in LANGUAGES for key, sentence in _WORDS.items() if translated(sentence, each) == words)
    return next(outcomes, words.replace(" ", "_")), found[3]


def session_subject(outcome: str, task: str) -> Sentence:
    """The subject of a commit with the record of a run."""
    words = _WORDS.get(outcome, outcome.replace("_", " "))
    return Sentence("session: {outcome}: {task}", outcome=words, task=task)


_PAUSES = frozenset(("needs_approval", "question_asked", "interrupted"))
"""The outcomes, as words of `loop.outcome`, after which a run can go on."""


@dataclass(frozen=True, slots=True)
class ChatOrigin:
    """The place that a message came from, in the ids of its channel: the chat, the account of its sender, also of the
    owner's, and the thread or topic. Each is empty where the channel has none."""

    chat: str = ""
    account: str = ""
    thread: str = ""


NO_ORIGIN = ChatOrigin()


@dataclass(frozen=True, slots=True)
class Speaker:
    """The sender of a message and its channel; a group chat has many senders in one session. `sender` is empty for the
    vault's owner."""

    channel: str
    sender: str = ""
    group: bool = False
    origin: ChatOrigin = NO_ORIGIN


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A session has started; its note is at `session`."""

    session: str
    speaker: Speaker


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """A session has ended; `reason`: closed or stale."""

    session: str
    reason: str


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A run begins; text injected by handlers is added to the model's prompt. `task` is the request; `job`, `purpose`
    and `role` are as in `loop.records`. `untrusted`: its session has text by others already. `tools` are the names of
    those that it may use."""

    run: str
    session: str
    task: str
    speaker: Speaker
    job: str = ""
    purpose: str = ""
    role: str = "owner"
    untrusted: bool = False
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IterationStarted:
    """Step `number` (from 1) of a run begins; `tools` were used in it so far, in order."""

    run: str
    session: str
    number: int
    task: str
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelRetry:
    """A call of a model has failed for a temporary `reason` and is tried again after so many seconds."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """A tool call begins; `subject` is its main argument, such as a path or a query, empty without one."""

    run: str
    session: str
    call: str
    tool: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class ToolCompleted:
    """A tool call has succeeded; `characters` is the length of its result."""

    run: str
    session: str
    call: str
    tool: str
    seconds: float
    characters: int


@dataclass(frozen=True, slots=True)
class ToolCallFailed:
    """A tool call has failed; `error` is the message for the model, `denied` is true if the policy denies the tool."""

    run: str
    session: str
    call: str
    tool: str
    seconds: float
    error: str
    denied: bool = False


@dataclass(frozen=True, slots=True)
class ModelThought:
    """What a model has thought before an answer or its calls, as far as its server hands it on in words."""

    run: str
    session: str
    text: str


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The model has written down its plan: the steps that are `done`, the one that it does `now`, and those that are
    `left` after it."""

    run: str
    session: str
    done: tuple[str, ...]
    now: str
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProfileSelected:
    """The profile of the policy that says which tools a run may use was chosen for it."""

    run: str
    session: str
    profile: str


@dataclass(frozen=True, slots=True)
class NodeToolCalled:
    """A tool of the node host was called; `status`: ok, failed, denied (its system refuses a permission), late (no
    answer in time) or away. `permission` is the one that is refused."""

    run: str
    tool: str
    status: str
    seconds: float
    permission: str = ""


@dataclass(frozen=True, slots=True)
class TaskCompleted:
    """A run has ended or paused. `outcome` is a word from `loop.outcome`; the messages are in the session's note.

    The tokens are those of all model calls in the run, 0 if not known; `at` is the end time, None if not known. `given`
    are the paths of the notes, other than skills, from which the model was given text unasked, `used` those of them
    that the answer used, None if not known. `job` is the job that the run belongs to, empty if a person asked for it.
    """

    run: str
    session: str
    task: str
    speaker: Speaker
    outcome: str
    answer: str
    tools: tuple[str, ...]
    seconds: float
    steps: int
    input_tokens: int = 0
    output_tokens: int = 0
    at: datetime | None = None
    given: tuple[str, ...] = ()
    used: tuple[str, ...] | None = None
    job: str = ""

    @property
    def is_over(self) -> bool:
        """False for a run that waits for a person, or that was stopped and can go on."""
        return self.outcome not in _PAUSES


@dataclass(frozen=True, slots=True)
class ContextCompact:
    """A summary is about to replace so many messages (`dropped`): handlers can save facts of the conversation first."""

    run: str
    session: str
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class MemoryFlushed:
    """A conversation was read before a compaction. Numbers: the facts that were `saved`, and those `known` already."""

    run: str
    session: str
    saved: int
    known: int


@dataclass(frozen=True, slots=True)
class MemoryRecalled:
    """Memories were looked up for a task's prompt: how many were `found` likely enough to be given, the search `mode`,
    the reason for a `degraded` mode, and the duration."""

    run: str
    session: str
    found: int
    mode: str
    degraded: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ContextRefreshed:
    """At step `number` of a run, `found` more memories were added to the model's prompt."""

    run: str
    session: str
    number: int
    found: int


@dataclass(frozen=True, slots=True)
class MemoryCaptured:
    """Entries were captured after a run. Numbers: `saved`, already `known`, and `superseding`
    (saved in the place of earlier ones); `refused` were not written (forgotten), `tokens` of the saved ones' texts
    (0: not counted). `problem` is the reason why nothing could be saved."""

    run: str
    session: str
    saved: int
    known: int = 0
    problem: str = ""
    superseding: int = 0
    refused: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class HumanResponse:
    """The person has answered a question of the agent, with the id `question`, in the note at `path`; `run` is the run
    that waited for it, empty for a question that none waits for."""

    question: str
    path: str
    answer: str
    at: datetime
    run: str = ""


@dataclass(frozen=True, slots=True)
class DaySummarised:
    """The summary of a day was written into its note; `day` is its date in ISO form."""

    day: str


@dataclass(frozen=True, slots=True)
class SkillActivated:
    """A skill was added to the prompt of a run; `score` is its relevance from 0 to 1."""

    run: str
    session: str
    skill: str
    score: float


@dataclass(frozen=True, slots=True)
class SkillOpened:
    """The model of a run has opened a skill with a tool call."""

    run: str
    session: str
    skill: str


@dataclass(frozen=True, slots=True)
class ChainStarted:
    """A skill that chains several skills was added to the prompt of a run."""

    run: str
    session: str
    skill: str


@dataclass(frozen=True, slots=True)
class ChainCompleted:
    """A run with a chain of skills has finished, and the tools that it used show each step that had to be done."""

    run: str
    session: str
    skill: str
    outcome: str


@dataclass(frozen=True, slots=True)
class SkillRated:
    """A skill was rated, in words or by an action; `opinion` is a word from `skills.usage`."""

    skill: str
    run: str
    opinion: str


@dataclass(frozen=True, slots=True)
class SkillSuggested:
    """A repeated workflow is suggested as a skill, in the note at `path`."""

    skill: str
    path: str


@dataclass(frozen=True, slots=True)
class ProposalDecided:
    """The person has decided what was proposed: its kind (such as `rule`), its id, and the status that it has now."""

    kind: str
    id: str
    status: str
