"""Judges the rules in force by their uses: on probation, to become active or to be set aside; active ones by a drop.

A rule of the person's is never set aside: they are asked. Of several rules that came up in the same runs, one may be
the reason that these went wrong. That is most likely what changed last: so the newest one is set aside first, and the
others are judged without those runs (`RuleBook.counted`). If it was one of them, runs without the newest show it.
"""

from agent.asking.answers import pending_proposals, propose
from agent.asking.proposal import ProposalDraft, ProposedNote
from agent.growth.rules.book import RuleBook, load_book
from agent.growth.rules.rule import IN_FORCE, LearnedRule, RuleStatus
from agent.growth.rules.rule_log import log_row
from agent.growth.rules.rule_note import with_status
from agent.growth.rules.rule_work import RuleChanges, RuleWork, subject_of
from agent.growth.rules.verdict import RuleVerdict
from agent.texts import text


def judge_rules(work: RuleWork, book: RuleBook) -> RuleChanges:
    """Give each rule the status that its uses say, in one commit, but set aside one at a time; returns all that was
    written."""
    every = RuleChanges()
    for _ in book.rules:
        changes = _judge_once(work, book)
        every.rows += changes.rows
        if not any(row.event == "deprecated" for row in changes.rows):
            break
        book = load_book(work.vault)
    return every


def _judge_once(work: RuleWork, book: RuleBook) -> RuleChanges:
    """Judge all rules, the newest first, until one is set aside."""
    changes = RuleChanges()
    for rule in sorted(book.rules, key=lambda each: -_let_in(book, each)):
        verdict = book.verdict(rule, work.probation)
        if rule.status not in IN_FORCE or verdict.status == rule.status:
            continue
        if work.vault.read(rule.path) != rule.data:
            continue  # a part of it has arrived, and the person has not looked at it yet
        if verdict.status == "active":
            _set(work, rule, "active", verdict, changes)
        elif verdict.status == "deprecated" and not book.is_settled_by_person(rule):
            changes = RuleChanges()  # what the others are is looked at anew
            _set(work, rule, "deprecated", verdict, changes)
            break
        elif verdict.status == "deprecated":
            _ask_to_end(work, rule, verdict)
    if changes.rows:
        changes.write(work, subject_of(changes.rows))
    return changes


def _let_in(book: RuleBook, rule: LearnedRule) -> float:
    """The moment at which a rule was let in first; 0 if nobody knows."""
    rows = book.log.of(rule.path, "probation", "urgent")
    return rows[0].at.timestamp() if rows else 0.0


def verdict_words(work: RuleWork, verdict: RuleVerdict) -> str:
    """A verdict in the person's language."""
    return text(f"rules.{verdict.reason}", work.language, uses=verdict.uses, successes=verdict.successes)


def _set(work: RuleWork, rule: LearnedRule, status: RuleStatus, verdict: RuleVerdict, changes: RuleChanges) -> None:
    changes.edit(rule.path, rule.data, with_status(rule, status))
    changes.rows.append(log_row(rule, work.now, status, "agent", verdict_words(work, verdict)))


def _ask_to_end(work: RuleWork, rule: LearnedRule, verdict: RuleVerdict) -> None:
    asked = (each.facts for each in pending_proposals(work.vault, "rule"))
    if any(each.get("asks") == "end" and each.get("rule") == rule.path for each in asked):
        return
    after = with_status(rule, "deprecated").decode("utf-8", "replace")
    draft = ProposalDraft(
        "rule",
        rule.name,
        text("rules.ask_end", work.language, rule=rule.sentence),
        text("rules.why_end", work.language, link=rule.link, why=verdict_words(work, verdict)),
        (ProposedNote(rule.path, after, rule.data.decode("utf-8", "replace")),),
        evidence=(rule.link,),
        facts={"asks": "end", "rule": rule.path, "words": rule.sentence},
        actor=work.actor,
    )
    propose(work.vault, draft, work.language)
