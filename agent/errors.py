"""Every error that the package raises on purpose, in one tree, sorted by who has to read it.

AgentError
├─ UserError          the person can fix it: one line and a hint; exit 2
│  ├─ ConfigError     a setting is wrong or unknown
│  ├─ NotAVault       no vault here
│  ├─ MissingKey      a secret that is referred to is not there
│  ├─ BadNote         a note's header cannot be read; the note is left as it is
│  ├─ BadPath         a path leaves the vault or names something that is not for notes
│  ├─ NoteExists      a create would overwrite
│  ├─ NoteGone        the note to change is not there
│  ├─ Conflict        two changes to the same lines; nothing was written
│  ├─ SecretFound      a commit would keep a password or key for ever
│  └─ MassChange      the brake: more notes would vanish than one run may remove unasked
├─ Retryable          may pass by itself; carries a delay
│  └─ LockHeld        another writer is at work; exit 75
├─ Permanent          will not pass: says what to repair
│  └─ GitFailed       a git command ended with an error
├─ ToolRetry          shown to the model: call it again, better
├─ ToolFailed         shown to the model: it cannot be done this way
└─ StopRun            ends or pauses an agent's run on purpose
   ├─ LimitReached    a ceiling on steps, calls, time, tokens or money
   ├─ NeedsApproval   a person has to say yes first
   ├─ QuestionAsked   a person has to answer first
   └─ Interrupted     whoever asked wants it no more

`cli.main` alone maps these to exit codes.
"""


class AgentError(Exception):
    """A failure with one line for the reader and, where there is one, a hint that says what to do."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UserError(AgentError):
    """The person can fix it."""


class ConfigError(UserError):
    """A setting is unknown, of the wrong type, or not allowed where it stands."""


class NotAVault(UserError):
    """No vault at this path or above it."""


class MissingKey(UserError):
    """A secret is named by reference and the reference leads nowhere."""


class BadNote(UserError):
    """A note's header is not plain YAML; `line` counts from 1 in the file."""

    def __init__(self, message: str, *, line: int = 1, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.line = line


class BadPath(UserError):
    """A path that would leave the vault, or that names what is not the agent's to touch."""


class NoteExists(UserError):
    """`create` found something at the path."""


class NoteGone(UserError):
    """The note that a change needs is not there."""


class Conflict(UserError):
    """Two changes meet in the same lines; nothing was written. `paths` are relative to the vault."""

    def __init__(self, message: str, *, paths: tuple[str, ...] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.paths = paths


class SecretFound(UserError):
    """A write would bring a password or key into history; nothing was written."""


class MassChange(UserError):
    """More notes would be deleted or emptied than one run may, unless a person says yes."""

    def __init__(self, message: str, *, paths: tuple[str, ...] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.paths = paths


class Retryable(AgentError):
    """May pass by itself: try again after `delay` seconds."""

    def __init__(self, message: str, *, delay: float = 1.0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.delay = delay


class LockHeld(Retryable):
    """Another process is writing to this vault."""


class Permanent(AgentError):
    """Will not pass by itself; the hint says what to repair."""


class GitFailed(Permanent):
    """A git command ended with an error: `code` is its exit status, `stderr` what it printed."""

    def __init__(self, command: str, code: int, stderr: str) -> None:
        lines = stderr.strip().splitlines()
        super().__init__(
            f"git {command} failed: {lines[-1] if lines else f'exit {code}'}",
            hint="vault-agent doctor looks for the cause",
        )
        self.code = code
        self.stderr = stderr


class ToolRetry(AgentError):
    """A tool was called in a way that cannot work; the message tells the model how to call it."""


class ToolFailed(AgentError):
    """A tool could not do what it was asked; the message tells the model why."""


class StopRun(AgentError):
    """Ends or pauses an agent's run on purpose."""


class LimitReached(StopRun):
    """A ceiling on steps, calls, time, tokens or money was met; `limit` is its setting's key."""

    def __init__(self, message: str, *, limit: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.limit = limit


class NeedsApproval(StopRun):
    """A call waits for a person's yes in the note at `path`."""

    def __init__(self, message: str, *, path: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = path


class QuestionAsked(StopRun):
    """A call waits for a person's answer in the note at `path`."""

    def __init__(self, message: str, *, path: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = path


class Interrupted(StopRun):
    """Whoever asked wants the answer no more."""
