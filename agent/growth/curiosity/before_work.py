"""Looks, before the agent begins work that it does alone, at what the work needs and does not have.

When: jobs with a text, and requests in `inbox/`: nobody sits there waiting, and a wrong guess costs a whole run. Not a
conversation: whoever asks there is at hand, the model asks them in its next sentence, and they would wait for the look.
Not the agent's own procedures, which say themselves what to look for. Nothing without a model: what is needed, no rule
can tell. Nothing where others wrote the task: they would choose what the person is asked. Off with
`growth.curiosity.unprompted`.

What the notes may say is looked up in them at once, what tools find out is left to the run, and only what the person
alone has becomes a question: at once, for the run to wait for, if the work is of no use without it and this is a good
hour; else later, and the run goes on as it said it would. One short call of the fast model for a task a week, on the
account of questions, within what that may cost on a day.
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.asking.questions.notes import asked_questions
from agent.channel_names import IN_NOTES
from agent.context.prompt import fill
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.bus import Injection, InjectionType
from agent.events.runs import TaskStarted
from agent.growth.curiosity.gap import (
    HOLDS,
    LookedAhead,
    WorkNeed,
    inert_excerpt,
    key_of_task,
    load_looked_ahead,
    parse_needs,
    save_looked_ahead,
)
from agent.growth.curiosity.look import KnownAlready, is_good_moment
from agent.growth.curiosity.settle import ACCOUNT
from agent.llm.messages import Request, User, ignore
from agent.markdown.title import clipped
from agent.memory.recall.likely import LEAST, likelihood
from agent.memory.recall.recaller import plain
from agent.runs.accounts import Accounts
from agent.runs.job_run import asks_for_agenda
from agent.runs.recall_source import RecallSource
from agent.runs.status import is_of_growth
from agent.texts import Language, text
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

SOURCE = "curiosity"
SECONDS = 20.0
"""The longest time that a run waits for the look, in seconds; then it begins without."""
ANSWER_TOKENS = 700
PRIORITY = 60
"""Below what went wrong and above suggestions: it is about the whole task."""
_TASK, _PASSAGE, _SHOWN, _HITS = 2_000, 300, 6, 2
_lock = threading.Lock()

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BeforeWork:
    """The look before the runs of one process."""

    workspace: Workspace
    accounts: Accounts
    searches: RecallSource
    seconds: float = SECONDS

    def started(self, event: TaskStarted) -> Sequence[Injection]:
        """A run begins: what it is told of what it needs; nothing if it needs nothing, or is not looked at."""
        if not self._is_wanted(event):
            return ()
        try:
            lines = tuple(self._lines(self._found(event)))
        except (AgentError, OSError, ValueError) as error:
            logger.info("what %s needs was not looked at: %s", event.run, error)
            return ()
        rows = "".join(f"\n- {each}" for each in lines)
        words = f"{text('curiosity.ahead', self._language)}{rows}"
        return (Injection(words, SOURCE, PRIORITY, type=InjectionType.SUGGESTION),) if lines else ()

    @property
    def _vault(self) -> Vault:
        return self.workspace.vault

    @property
    def _language(self) -> Language:
        return self.workspace.settings.vault.language

    def _is_wanted(self, event: TaskStarted) -> bool:
        growth = self.workspace.settings.growth
        is_on = growth.enabled and growth.curiosity.unprompted and self.accounts.models.main.model.present
        return is_on and _is_unattended(event) and not is_of_growth(event.job)

    def _found(self, event: TaskStarted) -> LookedAhead:
        """What this task needs: as it was found lately, else by the model."""
        vault, now, key = self._vault, self.workspace.clock.now(), key_of_task(event.task)
        known = load_looked_ahead(vault.records)
        found = next((each for each in reversed(known) if each.key == key and now - each.at < HOLDS), None)
        if found is not None:
            return found
        reply = vault.masked(self._ask(event.task, event.tools))
        task = clipped(vault.masked(event.task).strip().partition("\n")[0], _TASK)
        needs = tuple(map(self._with_place, parse_needs(reply, self._language)))
        made = LookedAhead(key, now, task, event.session, needs)
        with _lock:
            others = [each for each in load_looked_ahead(vault.records) if each.key != key]
            save_looked_ahead(vault.records, [*others, made])
        return made

    def _ask(self, task: str, tools: Sequence[str]) -> str:
        values = {
            "task": clipped(task, _TASK),
            "known": "\n".join(self._passages(task, _SHOWN)) or "(nothing)",
            "tools": ", ".join(tools) or "(nothing)",
            "language": text("prompt.language", self._language),
        }
        prompt, clock = fill("look_ahead", self._vault.own_version_of, **values), self.workspace.clock
        spend = self.workspace.settings.growth.curiosity.spend
        model = self.accounts.of_run(f"question-{clock.new_id()}", ACCOUNT, spend).fast
        until = clock.monotonic() + self.seconds
        asked = Request((User(prompt),), max_output=ANSWER_TOKENS)
        return model.chat(asked, ignore, lambda: clock.monotonic() >= until).message.text

    def _lines(self, found: LookedAhead) -> Iterator[str]:
        """What the run is told, a line for each need; it asks one thing at most."""
        may_wait = is_good_moment(self.workspace)
        known = KnownAlready(self._vault, self.workspace.clock.now(), tuple(asked_questions(self._vault)))
        for need in found.needs:
            if need.where in ("notes", "person") and (passages := self._passages(_query(need), _HITS)):
                yield text("curiosity.ahead_notes", self._language, what=need.what, notes="; ".join(passages))
            if need.where == "lookup":
                yield text("curiosity.ahead_lookup", self._language, what=need.what)
            if need.is_of_person:
                gap = need.gap(found.task, "", self._language)
                how = "asked" if known.is_known(gap) else "ask" if need.is_needed and may_wait else "later"
                may_wait = may_wait and how != "ask"
                parts = {"question": gap.question, "options": " | ".join(gap.options) or "–", "why": gap.why}
                how = f"curiosity.ahead_{how}"
                yield text(how, self._language, what=need.what, fallback=need.fallback, **parts)

    def _with_place(self, need: WorkNeed) -> WorkNeed:
        """The need; what the notes were to say and do not, is left to the person, or else to the run's own tools."""
        if need.where != "notes" or self._passages(_query(need), _HITS):
            return need
        return replace(need, where="person" if need.question else "lookup")

    def _passages(self, words: str, most: int) -> list[str]:
        """What the person's own notes say, each with its link; nothing that is unlikely to help, or by others."""
        found, least = self.searches.search(plain(words), most), LEAST[self.workspace.settings.memory.floor]
        likely = (each for each in found.hits if likelihood(words, each, found.mode) >= least)
        origin, read = self.searches.foreign.source, self._vault.read
        own = (each for each in likely if not origin(each.path, read(each.path) or b"", each.lines))
        return [f"[[{each.path.removesuffix('.md')}]]: {inert_excerpt(each.passage, _PASSAGE)}" for each in own]


def _is_unattended(event: TaskStarted) -> bool:
    """True for the owner's work, without others' text, at which nobody sits; but for a briefing, which has its facts,
    other ones each day."""
    is_own = event.role == "owner" and not (event.speaker.group or event.untrusted or "." in event.run)
    is_unattended = bool(event.job and not event.purpose) or event.speaker.channel == IN_NOTES
    return is_own and is_unattended and not (event.job and asks_for_agenda(event.task))


def _query(need: WorkNeed) -> str:
    """The words by which a need is looked for in the notes."""
    return need.search or need.question or need.what
