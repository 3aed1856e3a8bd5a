"""Asks a model for a reflection, with one prompt whatever the occasion: a run is over, its person has reacted, or a day
is over. Needs a model.

Nothing is written here, and no run is begun: a model is asked without tools, on an account of its own. So a reflection
can change nothing, and there is no run of it that could be reflected on. If a run has read what others have written,
all of its steps and its answer are framed: the words of the assistant may repeat that text.

The answer is a JSON array with an object for each part. What is missing or unknown in it is named in `problems`, and
the model is asked once more; a strategy with an unknown grade has the lowest one."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import get_args

from agent.config.resources import pattern
from agent.context.prompt import fill
from agent.dataclass import dataclass
from agent.errors import Permanent, UserError
from agent.growth.lessons.lesson_note import load_in_force
from agent.growth.lessons.reflection import ErrorKind, Grade, Occasion, Reflection, Strategy
from agent.growth.lessons.reflection_notes import ACCOUNT, MOST_STRATEGIES, STRATEGY, plain_text, reflections_name
from agent.growth.model_reply import ParsedReply, ask_model
from agent.llm.messages import Cancelled, Provider, reply_items
from agent.llm.presets import ModelKind
from agent.llm.providers import Providers
from agent.loop.outcome import RunOutcome
from agent.markdown.title import clipped, short_heading
from agent.memory.forgetting.tombstones import load_tombstones
from agent.runs.accounts import Accounts
from agent.runs.reactions import Reaction
from agent.runs.run_course import CourseStep, RunCourse, title_of
from agent.texts import Language, text
from agent.tools.taint import frame
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

TASK, ANSWER, TRACE, RULE_TEXT = 2_000, 3_000, 14_000, 4_000
"""The most characters of a task, an answer, the steps and the rules that a model is shown: about 6,000 tokens."""
NOTHING = "(none)"
_FIRST, _LAST = 12, 40
"""The steps that are shown of a long run: its begin and its end."""
_REACTIONS = {
    "helpful": "called a skill that was used helpful",
    "not_helpful": "called a skill that was used not helpful",
    "edited": "changed by hand what the assistant had written (- the assistant's lines, + theirs)",
    "undone": "took back what was done",
    "refused": "refused a call of a tool",
    "complained": "was not content",
    "asked_again": "asked the same once more",
    "followed_up": "asked more about the answer",
    "thanked": "was content",
}


def format_task(course: RunCourse) -> str:
    """The task; framed if it is a guest's."""
    task = clipped(course.task, TASK)
    return frame(task, "a guest") if course.is_guests else task


def format_output(course: RunCourse) -> str:
    """The answer, and how the run ended if it did not finish."""
    answer = clipped(course.answer, ANSWER) or NOTHING
    answer = frame(answer, ", ".join(course.strangers)) if course.strangers else answer
    if course.outcome == RunOutcome.FINISHED:
        return answer
    return f"The run did not finish ({course.outcome}): {clipped(course.reason, 400)}\n{answer}"


def format_reactions(reactions: Sequence[Reaction]) -> str:
    """The person's reactions so far, one a line."""
    rows = [f"- {_REACTIONS[each.kind]}" + (f":\n{each.words}" if each.words else "") for each in reactions]
    return "\n".join(rows) or "(nothing is known: they have neither said nor changed anything)"


def format_steps(course: RunCourse) -> str:
    """The steps as lines; of a long run the first and the last ones."""
    rows = step_rows(course.steps)
    if len(rows) > _FIRST + _LAST:
        left_out = len(rows) - _FIRST - _LAST
        rows = [*rows[:_FIRST], f"… {left_out} steps are left out …", *rows[-_LAST:]]
    lines = clipped("\n".join(rows), TRACE) or NOTHING
    return frame(lines, ", ".join(course.strangers)) if course.strangers else lines


def step_rows(steps: Sequence[CourseStep]) -> list[str]:
    """The steps as numbered lines."""
    return [f"{number} | {row}" for number, row in enumerate(map(_row, steps), 1)]


def rules_in_force(vault: Vault) -> str:
    """The lessons that the assistant follows, one a line."""
    rows = (f"- {clipped(each.sentence, 300)}" for each in load_in_force(vault))
    return clipped("\n".join(rows), RULE_TEXT) or NOTHING


def _row(step: CourseStep) -> str:
    if not step.tool:
        tokens = f"{step.tokens} tokens" if step.tokens is not None else "-"
        return f"{step.agent} | says | - | {step.text or '(only calls)'} | - | {tokens}"
    seconds = "-" if step.seconds is None else f"{step.seconds:.1f} s"
    result = f"FAILED: {step.result}" if step.failed else step.result
    return f"{step.agent} | calls | {step.tool} {step.text} | {result} | {seconds} | -"


ANSWER_TOKENS = 1_500
"""The most tokens of an answer: three strategies with all their parts are about 500."""
_LOGGED = 400
"""The most characters in the log of an answer that cannot be parsed."""
_FEEDBACK = (
    "The person has reacted to this work. Find out what they would have wanted instead, so that they need not correct"
    " it again. An edit may also be a change of mind: then say so in the result, and give no strategy.\n\n"
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reflecting:
    """The reflections of one vault. Each of its methods raises what the model raises: then nothing is lost, as the run
    can be looked at later."""

    workspace: Workspace
    accounts: Accounts

    @property
    def has_model(self) -> bool:
        """True if a model is configured."""
        return self.accounts.models.main.model.present

    @property
    def vault(self) -> Vault:
        return self.workspace.vault

    @property
    def language(self) -> Language:
        """The language of the vault's notes."""
        return self.workspace.settings.vault.language

    @property
    def now(self) -> datetime:
        """The present time, in whole seconds, as notes have it."""
        return self.workspace.clock.now().replace(microsecond=0)

    def require_model(self) -> None:
        """Raise `UserError` if no model is configured: nothing is reflected on without one."""
        if not self.has_model:
            raise UserError("without a model nothing is reflected on", hint="vault-agent config set llm.model NAME")

    def on_run(
        self, course: RunCourse, reactions: Sequence[Reaction], occasion: Occasion, cancelled: Cancelled
    ) -> Reflection | None:
        """The five dimensions of a run that is over; None for an answer that cannot be read. The model for the person
        is asked about their reaction, if there is one."""
        values = {
            "original_request": (_FEEDBACK if occasion == "feedback" else "") + format_task(course),
            "final_output": format_output(course),
            "user_reaction": format_reactions(reactions),
            "execution_trace": format_steps(course),
        }
        at = self.now
        placed = Reflection(
            self.vault.home.at(reflections_name(at.date())),
            at,
            occasion,
            (course.run,),
            course.sessions,
            heading=f"{at:%H:%M} {self._title(occasion, course)}",
            strangers=course.strangers,
            notes=course.notes,
            reactions=tuple(dict.fromkeys(each.kind for each in reactions)),
        )
        return self.filled(placed, "user" if occasion == "feedback" else "reflection", values, cancelled)

    def filled(
        self, placed: Reflection, kind: ModelKind, values: Mapping[str, str], cancelled: Cancelled
    ) -> Reflection | None:
        """A reflection that has its place, with what the model for this kind of work says to the values of the prompt;
        None for an answer that cannot be read."""
        more = {"active_rules": rules_in_force(self.vault), "language": text("prompt.language", self.language)}
        prompt = fill("reflect", self.vault.own_version_of, **values, **more)
        model = model_of(self.accounts.of_run(f"reflection-{self.workspace.clock.new_id()}", ACCOUNT), kind)
        parse, read = partial(parse_answer, placed=placed), self.vault.own_version_of
        found = ask_model(model, prompt, parse, ANSWER_TOKENS, read, cancelled)
        if not found.text:
            raise Permanent("the model gave an empty answer", hint="ask again; if it stays empty, raise llm.max_output")
        if found.value is None:
            logger.warning("a reflection cannot be read: %s", self.vault.masked(found.text[:_LOGGED]))
        return found.value

    def _title(self, occasion: Occasion, course: RunCourse) -> str:
        if course.is_guests:
            title = text("reflection.of_guest", self.language)
        else:
            plain = load_tombstones(self.vault).without_forgotten(title_of(course))
            title = short_heading(self.vault.masked(plain))
        return text("reflection.for_feedback", self.language, task=title) if occasion == "feedback" else title


def model_of(models: Providers, kind: ModelKind) -> Provider:
    """The model for a kind of work; where the person's own has no model of its own, the fast one."""
    return models.others.get("user", models.fast) if kind == "user" else models.of(kind)


_PARTS = frozenset(("result", "efficiency", "error", "strategy", "gap"))


def parse_answer(reply: str, placed: Reflection) -> ParsedReply[Reflection]:
    """The answer in a model's reply, as the words of a reflection that has its place."""
    try:
        items = [each for each in reply_items(reply) if each.get("part", "") in _PARTS]
    except ValueError as problem:
        return ParsedReply(None, (str(problem),))
    if not items:
        return ParsedReply(None, (f"no object has a part of {', '.join(sorted(_PARTS))}",))
    parts, problems = {each["part"]: each for each in reversed(items)}, list[str]()
    result, efficiency, error, gap = (_words(parts.get(name, {})) for name in ("result", "efficiency", "error", "gap"))
    answer = replace(
        placed,
        result=result,
        efficiency=efficiency,
        error=error,
        error_kind=_error_kind(parts["error"], problems) if error else None,  # models fill in a form to its end
        strategies=tuple(_strategies([each for each in items if each["part"] == "strategy"], problems)),
        gap=gap,
    )
    return ParsedReply(answer, tuple(problems))


def _words(item: Mapping[str, str], key: str = "text", most: int = 0) -> str:
    """A text of an object as a reflection has it; empty for a word that says that there is none."""
    words = item.get(key, "").strip()
    is_none = pattern("no_answer").fullmatch(words) is not None
    return "" if is_none else plain_text(words, most) if most else plain_text(words)


def _error_kind(item: Mapping[str, str], problems: list[str]) -> ErrorKind | None:
    kinds: tuple[ErrorKind, ...] = get_args(ErrorKind)
    found = next((each for each in kinds if each == item.get("kind", "").strip().casefold()), None)
    problems += [f"the kind of the error is one of {', '.join(kinds)}"] if found is None else []
    return found


def _strategies(items: Sequence[Mapping[str, str]], problems: list[str]) -> Iterator[Strategy]:
    if len(items) > MOST_STRATEGIES:
        problems.append(f"there are {len(items)} strategies: give the {MOST_STRATEGIES} best")
    for number, item in enumerate(items[:MOST_STRATEGIES], 1):
        if not (text := _words(item, most=STRATEGY)):
            problems.append(f"strategy {number} has no text")
            continue
        when = _words(item, "when", STRATEGY)
        confidence, severity = (_grade(item, number, key, problems) for key in ("confidence", "severity"))
        yield Strategy(
            text,
            "" if pattern("any_case").fullmatch(when.strip(" .。!！")) else when,
            _words(item, "effect", STRATEGY),
            confidence,
            severity,
            item.get("restricts", "").casefold() == "true",
        )


def _grade(item: Mapping[str, str], number: int, key: str, problems: list[str]) -> Grade:
    grades: tuple[Grade, ...] = get_args(Grade)
    found = next((each for each in grades if each == item.get(key, "").strip().casefold()), None)
    if found is None:
        problems.append(f"strategy {number}: {key} is one of {', '.join(grades)}")
    return found or "low"
