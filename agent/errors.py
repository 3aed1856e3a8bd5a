"""All errors that the package raises on purpose, in one tree, grouped by their reader.

AgentError
├─ UserError          the person can fix it: one line and a hint; exit 2
│  ├─ ConfigError     a setting is wrong or unknown
│  ├─ NotAVault       no vault here
│  ├─ MissingKey      the reference of a secret has no value
│  ├─ BadNote         a note's header cannot be parsed; the note is not changed
│  ├─ BadPath         a path leaves the vault or is not a path for notes
│  ├─ NoteExists      a create would overwrite a file
│  ├─ NoteGone        the note does not exist
│  ├─ Unknown         nothing has this id or name
│  ├─ Conflict        two changes to the same lines; nothing was written
│  ├─ SecretFound     a commit would keep a password or key for ever
│  └─ MassChange      the brake: a run would remove more notes than allowed without approval
├─ Retryable          temporary: try again after a delay
│  ├─ LockHeld        another process is writing; exit 75
│  └─ Stopping        this process was asked to stop in the middle of a wait
├─ Permanent          not temporary: the hint describes the repair
│  └─ GitFailed       a git command ended with an error
├─ ToolRetry          shown to the model: call the tool again with other arguments
├─ ToolFailed         shown to the model: the tool cannot do this
└─ StopRun            ends or pauses an agent's run on purpose
   ├─ LimitReached    a limit on steps, calls, time, tokens or money
   ├─ NeedsApproval   a person has to approve first
   ├─ QuestionAsked   a person has to answer first
   └─ Interrupted     the caller has cancelled the run

Only `cli.main` maps these to exit codes.
"""

from agent.texts import Sentence


class AgentError(Exception):
    """A failure with a message of one line and an optional hint on what to do.

    Both are English sentences; `{name}` in them stands for the value of that name. The message or the hint of another
    error, and a sentence with values of its own, are given as they are.
    """

    def __init__(self, sentence: str, /, *, hint: str = "", **values: object) -> None:
        self.message = sentence if isinstance(sentence, Sentence) else Sentence(sentence, **values)
        self.hint = hint if isinstance(hint, Sentence) else Sentence(hint, **values)
        super().__init__(self.message)


def os_reason(error: OSError) -> Sentence:
    """The reason that the operating system gives for a failure, as in `permission denied`."""
    return Sentence((error.strerror or str(error)).lower())


class UserError(AgentError):
    """The person can fix it."""


class ConfigError(UserError):
    """A setting is unknown, of the wrong type, or not allowed in its file."""


class NotAVault(UserError):
    """No vault at this path or above it."""


class MissingKey(UserError):
    """The reference of a secret has no value."""


class BadNote(UserError):
    """A note's header is not plain YAML; `line` counts from 1 in the file."""

    def __init__(self, sentence: str, /, *, line: int = 1, hint: str = "", **values: object) -> None:
        super().__init__(sentence, hint=hint, **values)
        self.line = line


class BadPath(UserError):
    """A path outside the vault, or one that the agent may not change."""


class NoteExists(UserError):
    """`create` was called for an existing path."""


class NoteGone(UserError):
    """The note does not exist."""


class Unknown(UserError):
    """Nothing has this id or name."""


class Conflict(UserError):
    """Two changes to the same lines; nothing was written. `paths` are relative to the vault."""

    def __init__(self, sentence: str, /, *, paths: tuple[str, ...] = (), hint: str = "", **values: object) -> None:
        super().__init__(sentence, hint=hint, **values)
        self.paths = paths


class SecretFound(UserError):
    """A write would add a password or key to the git history; nothing was written."""


class MassChange(UserError):
    """One run would delete or empty more notes than allowed without a person's approval."""

    def __init__(self, sentence: str, /, *, paths: tuple[str, ...] = (), hint: str = "", **values: object) -> None:
        super().__init__(sentence, hint=hint, **values)
        self.paths = paths


class Retryable(AgentError):
    """A temporary failure: try again after `delay` seconds."""

    def __init__(self, sentence: str, /, *, delay: float = 1.0, hint: str = "", **values: object) -> None:
        super().__init__(sentence, hint=hint, **values)
        self.delay = delay


class PerhapsDone(Retryable):
    """What was asked for may have been done all the same: the answer did not come."""


class LockHeld(Retryable):
    """Another process is writing to this vault."""


class Stopping(Retryable):
    """This process was asked to stop in the middle of a wait; its next start goes on with the work."""


class Permanent(AgentError):
    """A failure that is not temporary; the hint describes the repair."""


class GitFailed(Permanent):
    """A git command ended with an error: `code` is its exit status, `stderr` its error output."""

    def __init__(self, command: str, code: int, stderr: str) -> None:
        lines = stderr.strip().splitlines()
        super().__init__(
            "git {command} failed: {reason}",
            hint="vault-agent doctor looks for the cause",
            command=command,
            reason=lines[-1] if lines else Sentence("exit {code}", code=code),
        )
        self.code = code
        self.stderr = stderr


class ToolRetry(AgentError):
    """A tool call with wrong arguments; the message explains the correct call to the model."""


class ToolFailed(AgentError):
    """A tool call that failed; the message gives the model the reason."""


class StopRun(AgentError):
    """Ends or pauses an agent's run on purpose."""


class LimitReached(StopRun):
    """A limit on steps, calls, time, tokens or money was reached; `limit` is its setting's key.

    `concludes`: it leaves room for one last call of the model, which says what was done and what is left.
    """

    def __init__(
        self,
        sentence: str,
        /,
        *,
        limit: str,
        hint: str = "",
        concludes: bool = False,
        **values: object,
    ) -> None:
        super().__init__(sentence, hint=hint, **values)
        self.limit = limit
        self.concludes = concludes


class NeedsApproval(StopRun):
    """A tool call waits for a person's approval in the note at `path`."""

    def __init__(self, sentence: str, /, *, path: str, hint: str = "", **values: object) -> None:
        super().__init__(sentence, hint=hint, **values)
        self.path = path


class QuestionAsked(StopRun):
    """A tool call waits for a person's answer in the note at `path`."""

    def __init__(self, sentence: str, /, *, path: str, hint: str = "", **values: object) -> None:
        super().__init__(sentence, hint=hint, **values)
        self.path = path


class Interrupted(StopRun):
    """The caller has cancelled the run."""
