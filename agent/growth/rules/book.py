"""The rules of a vault with what is known of each: its log, its uses, and what they say."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.growth.rules.rule import LearnedRule
from agent.growth.rules.rule_log import RuleLog, RuleRow, load_log
from agent.growth.rules.rule_note import load_rules
from agent.growth.rules.uses import RuleUse, RuleUses, load_runs, uses_of
from agent.growth.rules.verdict import RuleVerdict, judge_active, judge_probation
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class RuleBook:
    """All rules of a vault, their log and their uses."""

    rules: tuple[LearnedRule, ...]
    log: RuleLog
    uses: RuleUses

    def counted(self, rule: LearnedRule) -> tuple[RuleUse, ...]:
        """The uses of a rule's present words that say something about it. A run that went wrong says nothing of it if a
        rule that its uses have set aside came up there, too: that one is to blame."""
        to_blame = self._failed - {rule.words}
        return tuple(
            use
            for use in self.uses.of(rule.words)
            if use.counts and (use.is_success or use.opinion == "not_helpful" or not use.beside & to_blame)
        )

    def verdict(self, rule: LearnedRule, probation: int) -> RuleVerdict:
        """What the uses of a rule in force say since it was last let in; `probation` is the length of that, in uses."""
        since = self._let_in(rule)
        outcomes = [use.is_success for use in self.counted(rule) if since is None or use.at >= since]
        judge = judge_active if self._skips_probation(rule) else judge_probation
        return judge(outcomes, probation)

    def is_settled_by_person(self, rule: LearnedRule) -> bool:
        """True if the rule is the person's: in their words, or made active or kept by them. It is never set aside
        without asking."""
        last = self.log.last_status(rule.path)
        return rule.is_persons or (last is not None and last.by == "person" and last.event == "active")

    def find(self, name: str) -> LearnedRule:
        """The rule with this path, name, or beginning of a name; raises `UserError` for none or several."""
        named = [each for each in self.rules if name in (each.path, each.name, each.id, each.path.removesuffix(".md"))]
        named = named or [each for each in self.rules if each.name.startswith(name.casefold())]
        if len(named) == 1:
            return named[0]
        if named:
            hint = "name one of them: {names}"
            names = ", ".join(each.name for each in named)
            raise UserError("several rules begin with {name}", hint=hint, name=name, names=names)
        raise UserError("there is no rule {name}", hint="vault-agent lessons", name=name)

    @property
    def _failed(self) -> frozenset[str]:
        """The marks of the rules that the agent has set aside."""
        aside = (each for each in self.rules if each.status == "deprecated")
        last = ((each.words, self.log.last_status(each.path)) for each in aside)
        return frozenset(words for words, row in last if row is not None and row.by == "agent")

    def _skips_probation(self, rule: LearnedRule) -> bool:
        """True for a rule that the person made active, by hand or by writing it."""
        last = self.log.last_status(rule.path)
        return rule.status == "active" and (last is None or last.by == "person")

    def _let_in(self, rule: LearnedRule) -> datetime | None:
        """The time since which the uses count: the rule's probation began, or the person decided about it."""
        begins: Sequence[RuleRow] = [
            row
            for row in self.log.of(rule.path, "probation", "urgent", "active", "changed")
            if row.event in ("probation", "urgent") or row.by == "person"
        ]
        return begins[-1].at if begins else None


def load_book(vault: Vault) -> RuleBook:
    """The rules, the log and the uses of a vault."""
    return RuleBook(load_rules(vault), load_log(vault), uses_of(load_runs(vault)))


def rule_document(book: RuleBook, rule: LearnedRule) -> dict[str, object]:
    """A rule for `--json`; `uses` and `successes` are those of its present words."""
    uses = book.counted(rule)
    return {
        "path": rule.path,
        "status": rule.status,
        "uses": len(uses),
        "successes": sum(use.is_success for use in uses),
        "evidence": list(rule.evidence),
        "rule": rule.text,
        "when": rule.when or None,
        "version": rule.version,
        "yours": book.is_settled_by_person(rule),
    }


def rule_history(book: RuleBook, rule: LearnedRule) -> Iterator[RuleRow]:
    """The rows of the log about a rule, the oldest first."""
    return (row for row in book.log.rows if row.path == rule.path)
