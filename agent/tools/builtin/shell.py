"""`shell_run`: runs one program on a copy of the notes, isolated as far as the platform allows, and commits its
changes.

Off by default (settings), and each call needs a person's approval (`approvals`). The sandbox is left to `sandbox`,
running and limiting to `program`, comparing the files to `working_copy`.
"""

import logging
import os
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from tempfile import mkdtemp

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import AgentError, StopRun, ToolFailed, ToolRetry
from agent.llm.messages import JsonObject
from agent.texts import Sentence
from agent.tools.arguments import schema, texts
from agent.tools.builtin.notes import Notes
from agent.tools.builtin.program import LIMITS, PATH, Program, ProgramLimits, ProgramOutput
from agent.tools.builtin.sandbox import Sandbox, best_sandbox, sandboxed_command
from agent.tools.builtin.working_copy import Changes, WorkingCopy
from agent.tools.note_access import check_not_private, check_text
from agent.tools.taint import reason_to_ask
from agent.tools.tool import Draft, Effect, RunContext, Tool, ToolOutput

_NAMES = 20
"""The most notes named in a result."""
_LONGEST = 100_000

logger = logging.getLogger(__name__)

_DESCRIPTION = (
    "Run one program, without a shell, in a fresh copy of the vault's notes: `argv` is the program and its arguments. "
    "Notes that it changes, makes or removes are committed; other files are dropped. No input, no network where the "
    "platform can shut it off, 60 seconds at most."
)
_PARAMETERS = schema(
    "argv",
    argv={
        "type": "array",
        "items": {"type": "string"},
        "minItems": 1,
        "maxItems": 100,
        "description": 'The program and its arguments, such as ["grep", "-rn", "tea", "."]',
    },
)


@dataclass(frozen=True, slots=True)
class ShellConfig:
    """The settings for programs: copies are made in `scratch` (None: the system's temporary folder), `hidden` folders
    are invisible to them, `sandbox` selects the sandbox."""

    scratch: Path | None = None
    hidden: tuple[Path, ...] = ()
    sandbox: Callable[[], Sandbox] = best_sandbox
    limits: ProgramLimits = LIMITS


def shell_tools(notes: Notes, clock: Clock, config: ShellConfig) -> tuple[Tool, ...]:
    """The tool `shell_run` for one vault."""

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        argv = _checked(texts(arguments, "argv"))
        place = Path(mkdtemp(prefix="vault-agent-run-", dir=config.scratch)).resolve()
        try:
            return _Run(notes, clock, config, place, context).perform(argv)
        finally:
            _remove(place)

    tool = Tool(
        "shell_run",
        _DESCRIPTION,
        _PARAMETERS,
        perform,
        frozenset({"exec"}),
        egress=True,
        timeout=0.0,
        effect=Effect(lambda arguments: (), lambda arguments, context: (), notes.done),
    )
    return (tool,)


def _checked(argv: Sequence[str]) -> Sequence[str]:
    if not argv or not argv[0].strip():
        raise ToolRetry('argv begins with the name of a program, such as ["ls", "-l"]')
    if any("\0" in word for word in argv) or sum(map(len, argv)) > _LONGEST:
        raise ToolRetry(f"argv may have {_LONGEST:,} characters in all, and no NUL")
    try:
        for word in argv:
            word.encode()
    except UnicodeEncodeError as error:
        raise ToolRetry("argv has characters in it that are no text") from error
    if "/" not in argv[0] and shutil.which(argv[0], path=PATH) is None:
        raise ToolRetry(f"there is no program {ascii(argv[0])[1:-1]} on this machine")
    return argv


@dataclass(slots=True)
class _Run:
    """One run of a program, in the folder `place`."""

    notes: Notes
    clock: Clock
    config: ShellConfig
    place: Path
    context: RunContext
    output: ProgramOutput = field(default_factory=ProgramOutput)

    def perform(self, argv: Sequence[str]) -> ToolOutput:
        """Run it and commit its changes. Raises `ToolFailed` if it was stopped, `Interrupted` if cancelled."""
        sandbox = self.config.sandbox()
        copy = WorkingCopy.of(self.notes.vault, self.place / "notes", self.context.cancelled)
        home = self.place / "home"
        home.mkdir(mode=0o700)
        outside = {} if sandbox.files else _states(self.notes)
        began = self.clock.monotonic()
        command = sandboxed_command(sandbox, argv, copy.folder, home, self._hidden())
        code = Program(command, copy.folder, home, self.config.limits, self.clock, self.output).run(
            self.context.cancelled
        )
        seconds = self.clock.monotonic() - began
        source = "" if sandbox.network else f"shell_run {Path(argv[0]).name}"
        if source:
            self.context.taint.mark(source)
        summary, is_changed = self._bring_back(argv, copy.changes())
        moved = () if sandbox.files else sorted(_states(self.notes).items() ^ outside.items())
        lines = [f"exit code {code}, after {seconds:.1f} s", sandbox.description, *summary]
        if moved:
            names = _named(list(dict.fromkeys(path for path, _ in moved)))
            lines.append(
                f"changed in the vault itself meanwhile, by it or by a person, and not committed here: {names}"
            )
        return ToolOutput("\n".join((*lines, "", self.output.text())), is_changed=is_changed, untrusted=source)

    def _hidden(self) -> tuple[Path, ...]:
        vault = self.notes.vault
        return (*self.config.hidden, vault.place.root, vault.place.gitdir, vault.private_folder)

    def _bring_back(self, argv: Sequence[str], changes: Changes) -> tuple[list[str], bool]:
        """Write the allowed changes; returns the lines for the result, and whether there are any."""
        reasons = {draft.path: self._refusal(draft) for draft in changes.drafts}
        allowed = [draft for draft in changes.drafts if not reasons[draft.path]]
        left = [*changes.left, *((path, why) for path, why in reasons.items() if why)]
        lines: list[str] = []
        if allowed:
            what = "vault(shell): {program} changed {names}"
            subject = Sentence(what, program=_subject(argv[0]), names=_named([draft.path for draft in allowed]))
            try:
                committed = self.notes.commit("shell_run", self.context, subject, allowed)
            except StopRun:
                raise
            except AgentError as error:
                raise ToolFailed(
                    f"nothing that the program changed was kept: {error.message}. It printed:\n{self.output.text()}"
                ) from error
            lines = [*committed.text.splitlines(), f"changed: {_named([draft.path for draft in allowed])}"]
        if left:
            refused = [f"{ascii(path)[1:-1] if not path.isprintable() else path} ({why})" for path, why in left]
            lines.append(f"not kept: {_named(refused)}")
        return lines, bool(allowed)

    def _refusal(self, draft: Draft) -> str:
        """The reason for refusing a change, by the rules of every tool that writes; empty if it is allowed."""
        effect = Effect(lambda arguments: (draft.path,), lambda arguments, context: (draft,), self.notes.done)
        as_write = Tool("shell_run", "", {}, _never, frozenset({"fs"}), effect=effect)
        try:
            check_not_private(self.notes.vault, check_text(draft.path))
            if draft.before is None and self.notes.vault.read(draft.path) is not None:
                return "there is a file of this name that it was not shown"
            return reason_to_ask(as_write, {}, self.context, self.notes.vault.home)
        except AgentError as error:
            return error.message


def _never(arguments: JsonObject, context: RunContext) -> ToolOutput:
    raise ToolFailed("this is only asked about")


def _states(notes: Notes) -> dict[str, tuple[int, int]]:
    """The size and modification time of each note, to detect later changes."""
    found: dict[str, tuple[int, int]] = {}
    for path in notes.vault.note_paths():
        with suppress(OSError):
            state = (notes.vault.place.root / path).lstat()
            found[path] = (state.st_size, state.st_mtime_ns)
    return found


def _remove(place: Path) -> None:
    """Remove the copy, also if the program has made folders of it read-only."""
    for folder, _, _ in os.walk(place):
        with suppress(OSError):
            Path(folder).chmod(0o700)
    shutil.rmtree(place, ignore_errors=True)
    if place.exists():
        logger.warning("%s could not be removed", place)


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(names[:_NAMES]) + more


def _subject(program: str) -> str:
    """A program's name, in a form for the first line of a commit message."""
    return re.sub(r"[^A-Za-z0-9._+-]", "", Path(program).name)[:40] or "a program"
