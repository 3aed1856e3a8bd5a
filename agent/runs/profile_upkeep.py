"""What the person has stated goes into their profile by itself, by rules: nobody has to plan a task for it.

Fields that a statement names are filled. What a model may add is left to the task `update_profile`.
"""

import logging
from datetime import timedelta

from agent.asking.questions.law import ASKS
from agent.asking.questions.notes import AskedQuestion
from agent.attention.quiet import parse_quiet
from agent.errors import AgentError
from agent.markdown.note import Note
from agent.memory.entry import MODEL
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.profile.changes import Proposed, Writing, propose_changes
from agent.memory.profile.load import load_profile
from agent.memory.profile.statements import changes_of_entries, outdated_lines, settle_profile_questions
from agent.memory.store import StoredEntry, entry_paths_on, load_entries
from agent.tools.text_origin import TextOrigin, text_origin_of
from agent.vault.change import Create, Stamp
from agent.vault.message import one_line
from agent.workspace.workspace import Workspace

_DAYS = 30
"""How far back it looks for what was said."""
_MOST = 60
"""The most changes at once, so that one commit can be read."""

logger = logging.getLogger(__name__)


def is_stated_by_owner(each: StoredEntry, foreign: TextOrigin) -> bool:
    """True for what the person stated: not what a model concluded, what a guest said, what was replaced since, or
    words of others, whether they arrived or were read by the run that wrote them."""
    entry = each.entry
    strange = each.untrusted or entry.sender_id or entry.chat_id or entry.superseded_by
    is_own = entry.type.is_stated and not strange and entry.source != MODEL
    return is_own and not foreign.source(each.path, each.data)


def profile_writing(workspace: Workspace) -> Writing:
    """Where and for whom the program writes into the profile by itself."""
    vault, settings = workspace.vault, workspace.settings
    is_forgotten = load_tombstones(vault).is_forgotten
    return Writing(vault, settings.vault.language, workspace.clock.now(), is_forgotten, settings.profile.sensitive)


def is_quiet_now(workspace: Workspace) -> bool:
    """True in the person's quiet hours."""
    quiet = parse_quiet(workspace.settings.attention.quiet)
    return quiet.holds(quiet.on_the_wall(workspace.clock.now()))


def fill_profile(workspace: Workspace) -> Proposed:
    """Write what was stated lately into the profile, in one commit; nothing if there is nothing new, if the vault has
    no profile, or if that has to wait."""
    vault = workspace.vault
    now = workspace.clock.now()
    try:
        profile = load_profile(vault)
        if not profile:
            return Proposed()
        days = (now.date() - timedelta(days=back) for back in range(_DAYS))
        paths = (path for day in days for path in entry_paths_on(vault, day))
        foreign, found = text_origin_of(vault), load_entries(vault, paths)
        stated = tuple(each for each in found if is_stated_by_owner(each, foreign))
        old = tuple(outdated_lines(vault, profile, found))
        writing = profile_writing(workspace)
        changes = changes_of_entries(stated, profile)
        settled = settle_profile_questions(writing)
        proposed = settled if settled.requests else propose_changes(writing, [*changes[-_MOST:], *old])
        if proposed.requests:
            with vault.transaction(_subject(proposed), Stamp("agent", tool="profile"), masked=True) as made:
                made.requests.extend(proposed.requests)
    except AgentError as error:
        logger.warning("the profile has to wait: %s", error.message)
        return Proposed()
    return proposed


def _subject(proposed: Proposed) -> str:
    """What a commit of this does, as its subject; one that only asks begins as all do that ask."""
    asked = [each for each in proposed.requests if isinstance(each, Create) and each.path in proposed.asked]
    if len(asked) < len(proposed.requests):
        return "memory(profile): what was said"
    return ASKS + one_line("; ".join(AskedQuestion(each.path, Note.parse(each.data)).title for each in asked))
