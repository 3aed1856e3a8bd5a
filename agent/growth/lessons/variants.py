"""The variants of the skills of one vault: proposes them with a model, and settles the trials that go on, without one.

`settle` may be called by any process of this machine, as often as one likes: all that it decides follows from the
history of the skill and the record of the trial.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from agent.asking.answers import answered_proposals, mark_taken, refused_facts
from agent.context.prompt import fill
from agent.dataclass import dataclass
from agent.errors import AgentError, LockHeld, SecretFound
from agent.growth.lessons.lesson_log import By, LessonEvent
from agent.growth.lessons.trials import (
    DIGEST,
    Trial,
    ask_about,
    begin_approved,
    begin_trial,
    logged,
    sha,
    skill_path,
    write_log,
)
from agent.growth.lessons.variant_candidates import SkillCandidate, look_at_skills
from agent.growth.lessons.variant_proposals import (
    RISKS,
    kind_of_change,
    new_tools,
    parse_proposals,
    prompt_values,
    riskier,
)
from agent.growth.lessons.verdict import count_trial, has_dropped, judge_trial
from agent.growth.model_reply import ParsedReply, ask_model
from agent.llm.messages import Cancelled, Provider, never
from agent.memory.forgetting.tombstones import load_tombstones
from agent.runs.accounts import Accounts
from agent.runs.registry import run_registry
from agent.runs.skill_set import SkillSet
from agent.runs.status import growth_account
from agent.skills.history.usage import load_own_uses
from agent.skills.variants.trial_shelf import TrialRecord, open_trials, parse_variant, save_trial, trial_records
from agent.skills.variants.variant import OPEN, TRIAL_USES, TrialPlan, Variant, VariantKind, body_digest
from agent.texts import text
from agent.workspace.workspace import Workspace

_LOCK = "mutations"
_LONGEST = 6_000
"""Most tokens of an answer: three whole texts of skills."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KnownTools:
    """The names of the tools that a run may use, and those of them that only read and send nothing out."""

    names: frozenset[str] = frozenset()
    harmless: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class VariantModel:
    """The accounts of models and the tools that proposing needs."""

    account: Accounts
    tools: KnownTools


@dataclass(frozen=True, slots=True)
class Variants:
    """The variants of the skills of one vault."""

    skills: SkillSet

    @property
    def workspace(self) -> Workspace:
        return self.skills.workspace

    @property
    def is_on(self) -> bool:
        """True unless growth, or trials of skills, are switched off."""
        growth = self.workspace.settings.growth
        return growth.enabled and growth.mutations.mode != "off"

    def candidates(self) -> tuple[SkillCandidate, ...]:
        """The skills of which a variant may be tried now."""
        if not self.is_on:
            return ()
        found = look_at_skills(self.skills, self.workspace.settings.growth.mutations.pause_days)
        return tuple(each for each in found if isinstance(each, SkillCandidate))

    def propose(self, model: VariantModel, cancelled: Cancelled = never, only: str = "") -> Iterator[str]:
        """Try one variant of each skill that may be changed (or `only` of this one), or ask about it; gives the paths
        of the notes. Raises what a transaction raises, `LockHeld` while another process does it, and `Interrupted`
        when it is cancelled."""
        with run_registry(self.workspace.vault).held(f"{_LOCK}-propose"):
            for candidate in self.candidates():
                if cancelled() or not model.account.models.main.model.present:
                    return
                if not only or candidate.skill.name == only:
                    yield from self._propose(candidate, model, cancelled)

    def settle(self) -> tuple[TrialRecord, ...]:
        """Begin the trials that the person has approved, and end those that are over; returns the ended ones."""
        if not self.is_on:
            return ()
        vault = self.workspace.vault
        if vault.queued:
            return ()  # what is decided now would be decided again
        with suppress(LockHeld), run_registry(vault).held(_LOCK):  # one process is enough
            self._take_answers()
            done = tuple(self._settle(record) for record in tuple(open_trials(vault)))
            return tuple(record for record in done if record is not None)
        return ()

    def stop(self, record: TrialRecord) -> TrialRecord:
        """End a trial for the person."""
        return self._trial(record).stop("by_person", "person")

    def _take_answers(self) -> None:
        """Act upon the person's answers to what was proposed."""
        for proposal in answered_proposals(self.workspace.vault, "mutation"):
            if proposal.status == "approved":
                begin_approved(self.workspace, proposal)
            else:
                event: LessonEvent = "refused" if proposal.status == "rejected" else "stopped"
                why = proposal.reason or text(f"variant.{event}", self.workspace.settings.vault.language)
                self._note(proposal.facts.get("skill", ""), event, why, "person")
            mark_taken(self.workspace.vault, proposal)

    def _trial(self, record: TrialRecord) -> Trial:
        return Trial(self.workspace, self.skills.library, record)

    def _settle(self, record: TrialRecord) -> TrialRecord | None:
        """The trial with its end; None while it goes on."""
        trial, vault, is_adopted = self._trial(record), self.workspace.vault, record.status == "kept"
        variant = parse_variant(record.path, vault.read(record.path) or b"")
        data = vault.read(skill_path(self.workspace, record.skill))
        now = sha(data) if data is not None else ""
        if record.planned and now == record.planned:
            return trial.finish_planned()
        if variant is None or variant.digest != record.body:
            return trial.stop("note_changed", "person")
        if variant.status != record.status and variant.status not in OPEN:  # a crash, or the person has written it
            return save_trial(vault, replace(record, status=variant.status, planned=""))
        if is_adopted and now == record.base:
            return trial.take_back()
        if now != (record.kept if is_adopted else record.base):
            return trial.stop("skill_changed" if now else "skill_gone", "person")
        return self._judge(trial, variant)

    def _judge(self, trial: Trial, variant: Variant) -> TrialRecord | None:
        """The trial with its end, if the uses so far decide it."""
        plan, record = variant.plan, trial.record
        count = count_trial(load_own_uses(self.workspace.vault, record.skill), record.number)
        if record.status == "kept":
            if has_dropped(plan, count):
                return trial.roll_back(count)
            return trial.settle(TRIAL_USES) if len(count.adopted) == TRIAL_USES else None
        match judge_trial(plan, count):
            case "open":
                return None
            case "better":
                return trial.keep(variant, count)
            case "inconclusive":
                return trial.drop("inconclusive", count)
            case "worse":
                return trial.drop("discarded", count)

    def _propose(self, candidate: SkillCandidate, model: VariantModel, cancelled: Cancelled) -> Iterator[str]:
        """The path of the note of the variant that is tried or asked about; none if no proposal can be."""
        try:
            answer = self._ask(candidate, model, cancelled)
        except AgentError as error:
            logger.info("no variant of %s is proposed now: %s", candidate.skill.name, error.message)
            return
        planned = sorted(
            self._usable(candidate, answer.value or (), model.tools), key=lambda each: RISKS.index(each.kind)
        )
        for each in planned:
            try:
                yield self._begin(candidate, each)
            except SecretFound as error:
                logger.warning("a variant of %s is not tried: %s", candidate.skill.name, error)
                continue
            return
        if not planned:
            self._note(candidate.skill.name, "nothing", "; ".join(answer.problems) or answer.text or "-")

    def _begin(self, candidate: SkillCandidate, proposed: Variant) -> str:
        mode = self.workspace.settings.growth.mutations.mode
        is_small = proposed.kind != "strategy" and mode == "usual"
        is_free = candidate.is_agents_own and (is_small or mode == "autonomous")
        return (begin_trial if is_free else ask_about)(self.workspace, candidate, proposed)

    def _ask(
        self, candidate: SkillCandidate, model: VariantModel, cancelled: Cancelled
    ) -> ParsedReply[tuple[Variant, ...]]:
        workspace, settings = self.workspace, self.workspace.settings
        values = prompt_values(workspace.vault, candidate, sorted(model.tools.names), settings.vault.language)
        prompt = fill("mutation", workspace.vault.own_version_of, **values)
        run = f"mutation-{workspace.clock.new_id()}"
        provider: Provider = model.account.of_run(run, growth_account("mutations")).of("reflection")
        plan = TrialPlan(settings.growth.mutations.min_improvement, settings.growth.mutations.tolerance)
        parse = partial(parse_proposals, skill=candidate.skill.name, plan=plan)
        return ask_model(provider, prompt, parse, _LONGEST, workspace.vault.own_version_of, cancelled)

    def _usable(self, candidate: SkillCandidate, proposals: Sequence[Variant], tools: KnownTools) -> Iterator[Variant]:
        """The proposals that may be tried: new ones, without secrets and forgotten words, within the skill's tools; of
        the riskier kind of what each says and what it does."""
        vault, before = self.workspace.vault, candidate.skill.body
        refused = {facts.get(DIGEST) for facts in refused_facts(vault, "mutation")}
        refused |= {each.body for each in trial_records(vault).all() if each.skill == candidate.skill.name}
        for proposal in proposals:
            kind = kind_of_change(before, proposal.body)
            if kind is None or body_digest(proposal.body) in refused or not self._may_be_written(proposal):
                continue
            named = new_tools(before, proposal.body, tools.names)
            allowed = candidate.skill.allowed_tools
            if allowed is not None and not set(named) <= set(allowed):
                continue
            # a new tool that does more than read makes it a new strategy
            more: VariantKind = "parameter" if set(named) <= tools.harmless else "strategy"
            yield replace(proposal, kind=riskier(kind, proposal.kind, more))

    def _may_be_written(self, proposal: Variant) -> bool:
        """True if there is neither a secret nor a forgotten word in a proposal."""
        vault, forgotten = self.workspace.vault, load_tombstones(self.workspace.vault)
        words = (proposal.body, proposal.change, proposal.reason, proposal.risk, proposal.verification)
        return all(vault.masked(each) == each == forgotten.without_forgotten(each) for each in words)

    def _note(self, skill: str, event: LessonEvent, why: str, by: By = "agent") -> None:
        """Log what became of a proposal that has no note."""
        write_log(self.workspace, logged(self.workspace, skill, event, why, by), f"{event}, {skill}")
