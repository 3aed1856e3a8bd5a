"""Makes reflections: on a run that is over, on the person's reaction to one, and on what went wrong in one while it
went on. Without a model a counted one.

Nothing is written here, and no run is begun: a model is asked without tools, on an account of its own. So a reflection
can change nothing, and there is no run of it that could be reflected on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from agent.context.prompt import fill
from agent.dataclass import dataclass
from agent.growth.reflections.ask import ANSWER_TOKENS, AskedAnswer, answer_in_reply, ask_for_answer
from agent.growth.reflections.counted import counted_run
from agent.growth.reflections.course import RunCourse, title_of
from agent.growth.reflections.error_record import ErrorRecord
from agent.growth.reflections.material import (
    rules_in_force,
    shown_output,
    shown_reactions,
    shown_steps,
    shown_task,
)
from agent.growth.reflections.reactions import Reaction
from agent.growth.reflections.reflection import ReactionKind, Reflection, Trigger
from agent.growth.reflections.store import ACCOUNT, reflections_name
from agent.llm.messages import Cancelled, Provider, never
from agent.llm.presets import ModelKind
from agent.llm.providers import Providers
from agent.markdown.title import short_heading
from agent.memory.forgetting.tombstones import load_tombstones
from agent.runs.accounts import Accounts
from agent.texts import Language, text
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace


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

    def on_run(
        self,
        course: RunCourse,
        reactions: Sequence[Reaction],
        errors: Sequence[ErrorRecord],
        cancelled: Cancelled,
    ) -> Reflection:
        """The five dimensions of a run that is over, by the model for reflection, else the main one."""
        if not self.has_model:
            return self.counted(course, reactions)
        asked = self._ask("reflection", "reflect", course, reactions, errors, cancelled)
        return self._of(asked, "task", course, reactions)

    def on_feedback(self, course: RunCourse, reactions: Sequence[Reaction], cancelled: Cancelled) -> Reflection:
        """What the person would have wanted of a run, by the model for the person, else the fast or the main one."""
        if not self.has_model:
            return replace(self.counted(course, reactions), trigger="feedback")
        asked = self._ask("user", "reflect_feedback", course, reactions, (), cancelled)
        return self._of(asked, "feedback", course, reactions)

    def of_errors(self, course: RunCourse, errors: Sequence[ErrorRecord]) -> Reflection:
        """What was found out about errors while a run went on; no model is asked again."""
        strategies = [each for error in errors for each in error.strategies]
        said = " ".join(dict.fromkeys(error.what for error in errors if error.what))
        kept = "\n\n".join(error.kept for error in errors if error.kept)
        found = Reflection(
            "",
            self._now(),
            "error",
            (),
            (),
            error=said or " ".join(dict.fromkeys(error.failure for error in errors)),
            error_kind=next((error.kind for error in errors if error.kind), None),
            strategies=tuple({each.text: each for each in strategies}.values())[:3],
        )
        if kept and not said and not strategies:
            found = replace(found, error="", kept=kept)
        return self.placed(found, course)

    def counted(self, course: RunCourse, reactions: Sequence[Reaction] = ()) -> Reflection:
        """What can be said of a run without a model."""
        found = Reflection("", self._now(), "task", (), (), is_plain=True, reactions=_kinds(reactions))
        said = counted_run(course, self.language)
        found = replace(found, result=said.result, efficiency=said.efficiency, error=said.error)
        return self.placed(replace(found, error_kind=said.error_kind), course)

    def placed(self, reflection: Reflection, course: RunCourse) -> Reflection:
        """The reflection with its place in the note of its day, and with what it rests on."""
        return replace(
            reflection,
            path=self.vault.home.at(reflections_name(reflection.at.date())),
            runs=(course.run,),
            sessions=course.sessions,
            notes=course.notes,
            strangers=course.strangers,
            heading=f"{reflection.at:%H:%M} {self._title(reflection.trigger, course)}",
        )

    def ask(
        self,
        kind: ModelKind,
        prompt: str,
        values: Mapping[str, str],
        cancelled: Cancelled = never,
        most: int = ANSWER_TOKENS,
    ) -> AskedAnswer:
        """The answer of the model for this kind of work to a prompt, on the account of reflections."""
        filled, read = fill(prompt, self.vault.own_version_of, **values), self.vault.own_version_of
        asked = ask_for_answer(self._model(kind), filled, read, cancelled, most)
        return replace(asked, kept=self.vault.masked(asked.kept))

    def answered(self, kind: ModelKind, prompt: str, values: Mapping[str, str], reply: str) -> AskedAnswer:
        """The answer in a reply that a run has given to a prompt; the model for this kind of work mends it, if it
        must."""
        filled, read = fill(prompt, self.vault.own_version_of, **values), self.vault.own_version_of
        asked = answer_in_reply(self._model(kind), filled, reply, read)
        return replace(asked, kept=self.vault.masked(asked.kept))

    def _model(self, kind: ModelKind) -> Provider:
        """The model for a kind of work, on an account of its own."""
        models = self.accounts.of_run(f"reflection-{self.workspace.clock.new_id()}", ACCOUNT)
        return model_of(models, kind)

    def prompt_language(self) -> str:
        """The language of the texts that a model writes, as a prompt names it."""
        return text("prompt.language", self.language)

    def _ask(
        self,
        kind: ModelKind,
        prompt: str,
        course: RunCourse,
        reactions: Sequence[Reaction],
        errors: Sequence[ErrorRecord],
        cancelled: Cancelled,
    ) -> AskedAnswer:
        noted = "".join(f"\n- noted while it went on: {each.failure} → {each.what}" for each in errors if each.what)
        values = {
            "original_request": shown_task(course),
            "final_output": shown_output(course) + ("" if course.strangers else noted),
            "user_reaction": shown_reactions(reactions),
            "execution_trace": shown_steps(course),
            "active_rules": rules_in_force(self.vault),
            "language": self.prompt_language(),
        }
        return self.ask(kind, prompt, values, cancelled)

    def _of(self, asked: AskedAnswer, trigger: Trigger, course: RunCourse, reactions: Sequence[Reaction]) -> Reflection:
        found = reflection_of(asked, trigger, self._now())
        return self.placed(replace(found, reactions=_kinds(reactions)), course)

    def _title(self, trigger: Trigger, course: RunCourse) -> str:
        if course.is_guests:
            title = text("reflection.of_guest", self.language)
        else:
            plain = load_tombstones(self.vault).without_forgotten(title_of(course))
            title = short_heading(self.vault.masked(plain))
        if trigger in ("error", "feedback"):
            return text(f"reflection.for_{trigger}", self.language, task=title)
        return title

    def _now(self) -> datetime:
        return self.workspace.clock.now().replace(microsecond=0)


def model_of(models: Providers, kind: ModelKind) -> Provider:
    """The model for a kind of work; where the person's own has no model of its own, the fast one."""
    return models.others.get("user", models.fast) if kind == "user" else models.of(kind)


def reflection_of(asked: AskedAnswer, trigger: Trigger, at: datetime) -> Reflection:
    """The reflection that an answer is, without its place."""
    answer = asked.answer
    if answer is None:
        return Reflection("", at, trigger, (), (), kept=asked.kept or "-")
    return Reflection(
        "",
        at,
        trigger,
        (),
        (),
        answer.result,
        answer.efficiency,
        answer.error,
        answer.error_kind,
        answer.strategies,
        answer.gap,
    )


def _kinds(reactions: Sequence[Reaction]) -> tuple[ReactionKind, ...]:
    return tuple(dict.fromkeys(each.kind for each in reactions))
