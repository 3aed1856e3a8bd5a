"""Changes of notes that a program asks for over a connection, under the rules of the tools of a run.

What steers the agent needs the person's yes to exactly this change; what only the program or a person writes is
refused. The request that got a yes is sent again, and is then carried out.
"""

from agent.dataclass import dataclass
from agent.errors import BadPath, NoteGone, ToolFailed
from agent.llm.messages import JsonObject
from agent.markdown.appending import add_to_section, append_block
from agent.runs.decisions import approvals
from agent.runs.left_requests import request_subject
from agent.texts import Sentence
from agent.tools.approvals import Approvals
from agent.tools.builtin.notes import Fill, move_drafts, write_drafts
from agent.tools.note_access import check_readable, check_text, may_relink
from agent.tools.policy import Permission, Policies, load_policies
from agent.tools.tool import Draft, Effect, RunContext, Tool, ToolOutput
from agent.vault.change import LEAVE, Outcome, Stamp
from agent.vault.moving import plan_move
from agent.vault.store import Vault
from agent.vault.transaction import Transaction
from agent.workspace.workspace import Workspace

_GROUPS = frozenset({"fs"})


@dataclass(frozen=True, slots=True)
class NoteChanges:
    """The changes that one client asks for: `actor` names it in commits, and is the channel for the policy."""

    vault: Vault
    approvals: Approvals
    policies: Policies
    actor: str
    groups: frozenset[str] = _GROUPS

    def read(self, path: str) -> bytes:
        """The bytes of the note at exactly this path; raises `NoteGone` and, for a hidden file, `ToolRetry`."""
        data = self.find(check_text(check_readable(path)))
        if data is None:
            hint = "GET /api/v1/search finds its path; GET /api/v1/log shows what was moved or deleted"
            raise NoteGone("there is no note {path}", hint=hint, path=path)
        return data

    def find(self, path: str) -> bytes | None:
        """The bytes of a note, None if there is none."""
        try:
            return self.vault.read(path)
        except NotADirectoryError:
            return None
        except IsADirectoryError:
            raise BadPath("{path} is a folder", hint="name the note, such as {path}/note.md", path=path) from None

    def create(self, path: str, data: bytes) -> Outcome:
        """Make a note that must not be there yet."""
        check_text(path)
        draft = Draft(path, None, data)
        return self._make("vault_write", f"vault(write): {path}", draft, call={"content": _text(data)})

    def replace(self, path: str, base: bytes, data: bytes) -> Outcome:
        """Change a note from `base`, as the client has it; what a person saves meanwhile is merged."""
        draft = Draft(check_text(path), base, data)
        return self._make("vault_write", f"vault(write): {path}", draft, call={"content": _text(data)})

    def delete(self, path: str, base: bytes) -> Outcome:
        """Delete a note that still has these bytes."""
        return self._make("vault_delete", f"vault(delete): {path}", Draft(check_text(path), base, None))

    def append(self, path: str, text: str, heading: str = "") -> Outcome:
        """Add text at the end of a note or of one of its sections, as blocks of its own; makes the note if it is
        missing."""
        before = self.find(check_text(path))
        section, added = heading.encode(), text.encode()
        data = before or b""
        after = add_to_section(data, section, added) if section else append_block(data, added)
        draft, call = Draft(path, before, after), {"text": text, "heading": heading}

        def fill(change: Transaction) -> None:
            change.append(path, added, section=section, is_block=True)

        return self._make("vault_append", f"vault(append): {path}", draft, call=call, fill=fill)

    def move(self, path: str, to: str) -> Outcome:
        """Give a note another path, to which all links follow; one that is there is never overwritten."""
        move = plan_move(
            self.vault, path, check_text(to), self.read(path), lambda each: may_relink(each, self.vault.home)
        )
        return self._make(
            "vault_move", Sentence("vault(move): {path} to {to}", path=path, to=to), *move_drafts(move), fill=move.fill
        )

    def leave_request(self, draft: Draft) -> Outcome:
        """Make the note of a request for the agent (`left_requests`): who may start a run may also ask for one."""
        check_text(draft.path)
        call: JsonObject = {"content": _text(draft.after or b"")}
        return self._make(LEAVE, request_subject(draft), draft, call=call, starts_run=True)

    def _make(
        self,
        name: str,
        subject: str,
        *drafts: Draft,
        call: JsonObject | None = None,
        fill: Fill | None = None,
        starts_run: bool = False,
    ) -> Outcome:
        """Make one commit; raises `NeedsApproval` for what needs a yes, `ToolFailed` for what is denied.

        `starts_run`: the notes steer the agent in one run only, which the client could start as well.
        """
        made: list[Outcome] = []

        def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
            with self.vault.transaction(subject, Stamp(self.actor, tool=name)) as change:
                (fill or (lambda transaction: write_drafts(transaction, drafts)))(change)
            made.append(change.outcome)
            return ToolOutput(subject)

        paths = tuple(each.path for each in drafts)
        effect = Effect(lambda _: () if starts_run else paths, lambda *_: drafts, lambda _: None)
        tool = Tool(name, subject, {}, perform, self.groups, timeout=0, effect=effect)
        context = RunContext(self.actor, "", channel=self.actor)
        if self.policies.permission(tool, context) is Permission.DENY:
            raise ToolFailed("the policy of this machine does not let {actor} change notes", actor=self.actor)
        arguments: JsonObject = {"paths": list(paths), **(call or {})}
        self.approvals.guard(tool, self.policies).perform(arguments, context)
        return made[0]


def note_changes(workspace: Workspace, actor: str, groups: frozenset[str] = _GROUPS) -> NoteChanges:
    """The changes of notes for one client; raises `ConfigError` for an invalid policy."""
    policies = load_policies(workspace.directories.config)
    return NoteChanges(workspace.vault, approvals(workspace), policies, actor, groups)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
