"""From reflections to rules: what is like a known rule or a skill supports it, what contradicts a rule is reported, the
rest is proposed; what only restricts and is urgent takes effect at once, and can be refused.
"""

import logging
from collections.abc import Sequence
from dataclasses import field, replace

from agent.asking.answers import pending_proposals, propose
from agent.asking.proposal import ProposalDraft
from agent.dataclass import dataclass
from agent.errors import NoteGone, UserError
from agent.events.growth import RuleChanged
from agent.growth.rules.book import RuleBook
from agent.growth.rules.candidates import (
    ENOUGH,
    RuleCandidate,
    SaidStrategy,
    find_candidates,
    independent,
    is_urgent,
    usable_strategies,
)
from agent.growth.rules.contradictions import report_contradiction
from agent.growth.rules.known import KnownRules, known_rules
from agent.growth.rules.rule import IN_FORCE, LearnedRule, rule_sentence
from agent.growth.rules.rule_log import RuleRow, log_row, logged_words
from agent.growth.rules.rule_note import with_sources
from agent.growth.rules.rule_proposals import (
    changed_rule,
    new_rule,
    rule_again,
    start_urgent,
)
from agent.growth.rules.rule_work import RuleChanges, RuleWork, subject_of
from agent.growth.rules.skill_support import SkillMatch, may_change, skill_change, skill_that_says
from agent.loop.session import load_session
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.understanding.seam import TextRelation
from agent.texts import in_all_languages, text

MOST_AT_ONCE = 3
"""The most rules about which the person is asked at one time: more would be noise."""
logger = logging.getLogger(__name__)


def rule_strategies(work: RuleWork) -> tuple[SaidStrategy, ...]:
    """The strategies in the reflections from which rules may come; none of a session with strangers' text in it, and
    none that says what was forgotten."""
    tainted: dict[str, bool] = {}

    def is_tainted(path: str) -> bool:
        if path not in tainted:
            try:
                tainted[path] = bool(load_session(work.vault, path).untrusted)
            except (NoteGone, UserError):
                tainted[path] = False  # a session that is gone steers nothing; its reflection says what it read
        return tainted[path]

    said = [
        each for each in usable_strategies(work.reflections()) if not any(map(is_tainted, each.reflection.sessions))
    ]
    if not said:
        return ()
    stones, marks = load_tombstones(work.vault), in_all_languages("forgetting.mark")
    known = (each for each in said if not any(mark in each.sentence for mark in marks))
    return tuple(each for each in known if not stones.is_forgotten(each.sentence))


def start_urgent_rules(work: RuleWork, book: RuleBook, said: Sequence[SaidStrategy]) -> tuple[LearnedRule, ...]:
    """Let the urgent strategies take effect, each in one commit with the question whether it may stay; returns the new
    rules."""
    known, begun = known_rules(work, book), list[LearnedRule]()
    for each in filter(is_urgent, said):
        sentence = each.sentence
        rules = [rule.sentence for rule in (*book.rules, *begun)]
        done = [row.words for row in book.log.rows if row.event == "urgent"]
        if known.is_settled(each.strategy.text, sentence) or known.is_among(
            each.strategy.text, sentence, [*rules, *done]
        ):
            continue
        try:
            begun.append(start_urgent(work, book.log, each))
        except UserError as error:
            logger.warning("%s is not followed: %s", sentence, error)
            continue
        work.tell(RuleChanged(begun[-1].path, "urgent", "agent"))
    return tuple(begun)


def learn_rules(work: RuleWork, book: RuleBook, said: Sequence[SaidStrategy]) -> RuleChanges:
    """Propose rules, or support those that there are; returns what was written beside the proposals."""
    learner = _Learner(work, known_rules(work, book))
    for candidate in find_candidates(said, learner.known.vectors):
        try:
            learner.consider(candidate)
        except UserError as error:
            logger.warning("%s is not proposed as a rule: %s", candidate.sentence, error)
    changes = learner.changes
    if changes.rows:
        changes.write(work, subject_of(changes.rows))
    return RuleChanges([*learner.reported, *changes.rows])


@dataclass(slots=True)
class _Learner:
    """One look at the candidates."""

    work: RuleWork
    known: KnownRules
    changes: RuleChanges = field(default_factory=RuleChanges)
    reported: list[RuleRow] = field(default_factory=list)
    """The rows about contradictions, which are written already."""

    def consider(self, candidate: RuleCandidate) -> None:
        """Do with a candidate what follows from the rules that there are."""
        known, said = self.known, candidate.strategy
        if known.is_settled(said.text, candidate.sentence):
            return
        related = list(zip(known.book.rules, known.relations(said.text, [each.text for each in known.book.rules]),
                           strict=True))  # fmt: skip
        if (same := next((rule for rule, relation in related if relation is TextRelation.SAME), None)) is not None:
            self.support(same, candidate)
            return
        opposite = (rule for rule, relation in related if relation is TextRelation.CONTRADICTS)
        if (rule := next((each for each in opposite if each.status in IN_FORCE), None)) is not None:
            row = report_contradiction(self.work, known, rule, candidate)
            self.reported += [row] if row is not None else []
        elif (match := skill_that_says(self.work, known, candidate)) is not None:
            self.support_skill(match, candidate)
        elif self.may_ask():
            self.ask(new_rule(self.work, known.book.log, candidate))

    def support(self, rule: LearnedRule, candidate: RuleCandidate) -> None:
        """More evidence for a rule that says the same, or more cases; of one that was set aside, a new probation if
        enough has come since."""
        if self.work.vault.read(rule.path) != rule.data:
            return  # a part of it has arrived, and the person has not looked at it yet
        if rule.status not in IN_FORCE:
            self.try_again(rule, candidate)
            return
        case = candidate.strategy.when
        if case and rule.when and self.known.relations(case, [rule.when])[0] is TextRelation.DIFFERENT:
            wider = f"{rule.when}; {case}"
            is_known = self.known.is_among(rule.text, rule_sentence(rule.text, wider), self.known.book.log.unwanted)
            if not is_known and self.may_ask():
                self.ask(changed_rule(self.work, rule, rule.text, wider, candidate))
                return
        after = with_sources(rule, candidate.evidence, self.work.language)
        if after != rule.data:
            self.changes.edit(rule.path, rule.data, after)
            self.changes.rows.append(log_row(rule, self.work.now, "supported", "agent", _links(candidate)))

    def support_skill(self, match: SkillMatch, candidate: RuleCandidate) -> None:
        """Propose the line for a skill that says the same; where that cannot be, it is only in the log."""
        if may_change(self.work, self.known, match, candidate):
            if self.may_ask():
                self.ask(skill_change(self.work, match, candidate))
            return
        words = logged_words(candidate.sentence)
        if any(row.words == words and row.path == match.skill.path for row in self.known.book.log.rows):
            return  # the skill has it from an earlier yes
        why = text("rules.in_skill", self.work.language, name=match.skill.name)
        self.note_support(candidate, f"{why} {_links(candidate)}")

    def try_again(self, rule: LearnedRule, candidate: RuleCandidate) -> None:
        """Ask about a rule that the agent has set aside, if enough has been said for it since."""
        last = self.known.book.log.last_status(rule.path)
        if last is None or last.by == "person":
            return
        later = independent([each for each in candidate.said if each.reflection.at > last.at])
        again = replace(candidate, said=tuple(later))
        if len(later) >= ENOUGH and self.may_ask():
            self.ask(rule_again(self.work, rule, again))

    def may_ask(self) -> bool:
        """True if not too many questions wait."""
        return len(pending_proposals(self.work.vault, "rule")) < MOST_AT_ONCE

    def ask(self, draft: ProposalDraft) -> None:
        """Ask the person."""
        propose(self.work.vault, draft, self.work.language)

    def note_support(self, candidate: RuleCandidate, why: str) -> None:
        """Add a row with the words of a candidate that has no note yet, unless the log has it."""
        words = logged_words(candidate.sentence)
        if not any(row.words == words and not row.path for row in self.known.book.log.rows if row.event == "supported"):
            self.changes.rows.append(RuleRow(self.work.now, "", words, "supported", "agent", why))


def _links(candidate: RuleCandidate) -> str:
    return ", ".join(dict.fromkeys(each.evidence.link for each in candidate.said))
