"""The work on rules in the background: what the person did with them, what their uses say, and what is learned anew.

It learns from reflections only when some have changed: that compares many texts, and may ask a model.
"""

import logging
from collections.abc import Callable, Iterator

from agent.background.routine import PATIENCE, On, Routine
from agent.background.touched import changes_in, paths_in
from agent.events.runs import ProposalDecided, TaskCompleted
from agent.events.types import DaemonStarted, EditsCommitted, FilesChanged, Origin
from agent.growth.rules.rule_work import RuleWork
from agent.growth.rules.tend import follow_rules, tend_rules
from agent.llm.messages import Cancelled
from agent.markdown.changes import NoteChange
from agent.runs.status import is_of_growth
from agent.vault.folders import REFLECTIONS, RULES, SESSIONS
from agent.workspace.workspace import Workspace, reload_settings

_LEARN, _FOLLOW = "learn", "follow"
"""What it is wanted for: to learn from reflections and follow the rules, or only to follow them."""

logger = logging.getLogger(__name__)


def rule_routine(workspace: Workspace, open_work: Callable[[], RuleWork]) -> Routine:
    """The rules of one vault's daemon; `open_work` gives what the work needs now."""
    home = workspace.vault.home
    reflected = changes_in(home, REFLECTIONS)

    def changed(event: FilesChanged[NoteChange]) -> Iterator[str]:
        """New reflections; rules by hand, or boxes in the notes of runs."""
        if reflected(event):
            yield _LEARN
        if paths_in((each for each in event.events if each.origin is not Origin.OWN), home, RULES, SESSIONS):
            yield _FOLLOW

    def work(wanted: dict[str, None], _: Cancelled) -> None:
        if reload_settings(workspace).settings.growth.enabled:
            rules = open_work()
            for row in tend_rules(rules) if _LEARN in wanted else follow_rules(rules):
                logger.info("rule %s: %s (%s)", row.path or row.words, row.event, row.why)

    return Routine(
        "rules",
        work,
        on=(
            On(DaemonStarted, lambda event: (_LEARN,)),
            On(FilesChanged, changed),
            On(EditsCommitted, lambda event: (_FOLLOW,)),  # they may be corrections of what runs wrote
            On(ProposalDecided, lambda event: (_LEARN,) if event.kind == "rule" else ()),  # the next may be asked
            On(TaskCompleted, lambda event: () if is_of_growth(event.job) else (_FOLLOW,)),
        ),
        quiet=5.0,
        retry=600.0,
        patience=PATIENCE,
    )
