"""A vault with rules, reflections made by hand, and a person who answers in notes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.asking.answers import pending_proposals
from agent.growth.patterns.likeness import vectors_of
from agent.growth.reflections.reflection import Grade, Reflection, Strategy
from agent.growth.rules.book import RuleBook, load_book
from agent.growth.rules.rule import LearnedRule
from agent.growth.rules.rule_log import RuleRow
from agent.growth.rules.rule_work import KnownSkill, RuleWork, trust_nothing
from agent.growth.rules.tend import tend_rules
from agent.growth.rules.uses import GivenRule, RuleRun, RunOpinion, append_runs, opinion_row
from agent.index.embedder import shipped_embedder
from agent.texts import Language
from agent.vault.change import Stamp
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.stories.agents import ticked
from tests.vaults import write

START = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
READ = (
    "Read the note before you change it",
    "Always read a note first before editing it",
    "Read a note before its change",
)
"""Three ways to say one strategy."""
BOXES = {"en": ("approve", "reject"), "zh": ("批准", "拒绝")}
"""What stands at the boxes for a yes and a no."""


def strategy(
    text: str,
    when: str = "a note is changed",
    confidence: Grade = "medium",
    severity: Grade = "low",
    restricts: bool = False,
) -> Strategy:
    return Strategy(text, when, "nothing of it is lost", confidence, severity, restricts)


def reflection(
    day: int,
    *strategies: Strategy,
    run: str = "",
    strangers: Sequence[str] = (),
) -> Reflection:
    """A reflection of a day, on one run."""
    at = START + timedelta(days=day)
    path = f"reflections/{at:%Y/%m/%Y-%m-%d}-reflections.md"
    runs = (run or f"run-{day}",)
    return Reflection(
        path,
        at,
        "task",
        runs,
        (),
        strategies=strategies,
        strangers=tuple(strangers),
        heading=f"{at:%H:%M} A run",
    )


def three(*texts: str, when: str = "a note is changed", first: int = 0) -> list[Reflection]:
    """Three independent reflections, each with one of these texts."""
    said = texts if len(texts) == 3 else texts * 3
    return [reflection(first + day, strategy(text, when)) for day, text in enumerate(said)]


@dataclass
class Desk:
    """A vault, the reflections that its agent has, and the person."""

    vault: Vault
    clock: FakeClock
    reflections: list[Reflection] = field(default_factory=list)
    language: Language = "en"
    skills: Sequence[KnownSkill] = ()
    told: list[object] = field(default_factory=list)
    trust: Callable[[str], object] = trust_nothing

    @property
    def root(self) -> Path:
        return self.vault.place.root

    @property
    def work(self) -> RuleWork:
        return RuleWork(
            self.vault,
            self.language,
            lambda: self.reflections,
            lambda: self.skills,
            lambda: vectors_of(shipped_embedder()),
            tell=self.told.append,
            trust_skill=self.trust,
        )

    @property
    def book(self) -> RuleBook:
        return load_book(self.vault)

    def tend(self) -> tuple[RuleRow, ...]:
        self.clock.advance(60)
        return tend_rules(self.work)

    def learn(self, *reflections: Reflection) -> tuple[RuleRow, ...]:
        """The agent has reflected; then its work on rules is done."""
        self.reflections += reflections
        now = max(each.at for each in self.reflections) + timedelta(hours=1)
        self.clock.advance(max(0.0, (now - self.clock.now()).total_seconds()))
        return self.tend()

    def asked(self) -> list[str]:
        """The questions that wait."""
        return [each.question for each in pending_proposals(self.vault, "rule")]

    def question(self) -> str:
        """The note of the one question that waits."""
        (asked,) = pending_proposals(self.vault, "rule")
        return (self.root / asked.path).read_text("utf-8")

    def answer(self, yes: bool = True) -> tuple[RuleRow, ...]:
        """The person ticks a box of all that waits."""
        for each in pending_proposals(self.vault, "rule"):
            path = self.root / each.path
            write(path, ticked(path.read_text("utf-8"), BOXES[self.language][not yes]))
        return self.tend()

    def admit(self, *texts: str, when: str = "a note is changed") -> LearnedRule:
        """A rule on probation, learned from three reflections and let in."""
        known = {each.path for each in self.book.rules}
        first = max(((each.at - START).days for each in self.reflections), default=-1) + 1
        self.learn(*three(*texts, when=when, first=first))
        self.answer()
        (rule,) = (each for each in self.book.rules if each.path not in known)
        return rule

    def use(self, rule: LearnedRule, *went_well: bool, beside: Sequence[LearnedRule] = ()) -> None:
        """Runs in which the case of the rule came up, and of those `beside` it, each an hour after the other: with one
        that went well the person was content, any other failed."""
        rows = list[RuleRun]()
        for is_well in went_well:
            self.clock.advance(3_600)
            given = tuple(GivenRule(each.path, each.words) for each in (rule, *beside))
            run = self.clock.new_id()
            rows.append(RuleRun(self.clock.now(), run, "finished" if is_well else "failed", given))
            rows += [opinion_row(self.clock.now(), run, given, "helpful", "")] if is_well else []
        self._append(rows)

    def opine(self, run: str, rule: LearnedRule, opinion: RunOpinion) -> None:
        """The person says what they think of a run's rule."""
        self._append([opinion_row(self.clock.now(), run, [GivenRule(rule.path, rule.words)], opinion, "")])

    def _append(self, rows: Sequence[RuleRun]) -> None:
        with self.vault.transaction("session: finished", Stamp("agent", tool="capture")) as change:
            change.requests += append_runs(self.vault.home, rows, self.language)

    def rule(self) -> LearnedRule:
        """The only rule."""
        (found,) = self.book.rules
        return found
