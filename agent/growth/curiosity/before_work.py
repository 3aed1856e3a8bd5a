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
from agent.growth.curiosity.look import ACCOUNT, KnownAlready, is_good_moment
from agent.growth.curiosity.needs import (
    HOLDS,
    LookedAhead,
    WorkNeed,
    key_of_task,
    load_looked_ahead,
    parse_needs,
    save_looked_ahead,
)
from agent.index.query import Hit
from agent.llm.messages import Request, User, ignore
from agent.markdown.title import clipped
from agent.memory.daily import inert
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
            found = self._found(event)
            told = tuple(self._told(event, found)) if found is not None else ()
        except (AgentError, OSError, ValueError) as error:
            logger.info("what %s needs was not looked at: %s", event.run, error)
            return ()
        if not told:
            return ()
        words = "\n".join((text("curiosity.ahead", self._language), *(f"- {each}" for each in told)))
        return (Injection(words, SOURCE, PRIORITY, type=InjectionType.SUGGESTION),)

    @property
    def _vault(self) -> Vault:
        return self.workspace.vault

    @property
    def _language(self) -> Language:
        return self.workspace.settings.vault.language

    def _is_wanted(self, event: TaskStarted) -> bool:
        growth = self.workspace.settings.growth
        is_alone = (bool(event.job) and not event.purpose) or event.speaker.channel == IN_NOTES
        is_own = event.role == "owner" and not event.speaker.group and not event.untrusted and "." not in event.run
        is_on = growth.enabled and growth.curiosity.unprompted and self.accounts.models.main.model.present
        is_briefing = bool(event.job) and asks_for_agenda(event.task)  # it has its facts, other ones each day
        return is_on and is_alone and is_own and not is_of_growth(event.job) and not is_briefing

    def _found(self, event: TaskStarted) -> LookedAhead | None:
        """What this task needs: as it was found lately, else by the model."""
        now, key = self.workspace.clock.now(), key_of_task(event.task)
        known = load_looked_ahead(self._vault.records)
        found = next((each for each in reversed(known) if each.key == key and now - each.at < HOLDS), None)
        if found is not None:
            return found
        needs = parse_needs(self._ask(event.task, event.tools), self._language)
        masked = tuple(self._with_place(self._without_secrets(each)) for each in needs)
        task = clipped(self._vault.masked(event.task).strip().partition("\n")[0], _TASK)
        made = LookedAhead(key, now, task, event.session, masked)
        with _lock:
            others = [each for each in load_looked_ahead(self._vault.records) if each.key != key]
            save_looked_ahead(self._vault.records, [*others, made])
        return made

    def _ask(self, task: str, tools: Sequence[str]) -> str:
        values = {
            "task": clipped(task, _TASK),
            "known": "\n".join(self._passages(task, _SHOWN)) or "(nothing)",
            "tools": ", ".join(tools) or "(nothing)",
            "language": text("prompt.language", self._language),
        }
        prompt = fill("look_ahead", self._vault.own_version_of, **values)
        spend = self.workspace.settings.growth.curiosity.spend
        model = self.accounts.of_run(f"question-{self.workspace.clock.new_id()}", ACCOUNT, spend).fast
        clock = self.workspace.clock
        until = clock.monotonic() + self.seconds
        asked = Request((User(prompt),), max_output=ANSWER_TOKENS)
        return model.chat(asked, ignore, lambda: clock.monotonic() >= until).message.text

    def _told(self, event: TaskStarted, found: LookedAhead) -> Iterator[str]:
        """What the run is told, a line for each need."""
        may_wait = self._may_ask_now()
        known = KnownAlready(self._vault, self.workspace.clock.now(), tuple(asked_questions(self._vault)))
        for need in found.needs:
            passages = self._passages(_query(need), _HITS) if need.where in ("notes", "person") else []
            if passages:
                yield text("curiosity.ahead_notes", self._language, what=need.what, notes="; ".join(passages))
            if need.where == "lookup":
                yield text("curiosity.ahead_lookup", self._language, what=need.what)
            if not need.is_of_person:
                continue
            gap = need.gap(found.task, "", self._language)
            if known.is_known(gap):
                yield text("curiosity.ahead_asked", self._language, what=need.what, fallback=need.fallback)
            elif need.is_needed and may_wait:
                may_wait = False  # one at a time
                yield text(
                    "curiosity.ahead_ask",
                    self._language,
                    what=need.what,
                    question=gap.question,
                    options=" | ".join(gap.options) or "–",
                    why=gap.why,
                    fallback=need.fallback,
                )
            else:
                yield text("curiosity.ahead_later", self._language, what=need.what, fallback=need.fallback)

    def _with_place(self, need: WorkNeed) -> WorkNeed:
        """The need; what the notes were to say and do not, is left to the person, or else to the run's own tools."""
        if need.where != "notes" or self._passages(_query(need), _HITS):
            return need
        return replace(need, where="person" if need.question else "lookup")

    def _may_ask_now(self) -> bool:
        return is_good_moment(self.workspace)

    def _passages(self, words: str, most: int) -> list[str]:
        """What the person's own notes say, each with its link; nothing that is unlikely to help, or by others."""
        found = self.searches.search(plain(words), most)
        least = LEAST[self.workspace.settings.memory.floor]
        likely = (each for each in found.hits if likelihood(words, each, found.mode) >= least)
        return [self._passage(each) for each in likely if self._is_own(each)]

    def _is_own(self, hit: Hit) -> bool:
        data = self._vault.read(hit.path) or b""
        return not self.searches.foreign.source(hit.path, data, hit.lines)

    def _passage(self, hit: Hit) -> str:
        words = clipped(inert(" ".join(hit.passage.split())), _PASSAGE)
        return f"[[{hit.path.removesuffix('.md')}]]: {words}"

    def _without_secrets(self, need: WorkNeed) -> WorkNeed:
        mask = self._vault.masked
        return replace(
            need,
            what=mask(need.what),
            search=mask(need.search),
            question=mask(need.question),
            options=tuple(map(mask, need.options)),
            result=mask(need.result),
            fallback=mask(need.fallback),
        )


def _query(need: WorkNeed) -> str:
    """The words by which a need is looked for in the notes."""
    return need.search or need.question or need.what
