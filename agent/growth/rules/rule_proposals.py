"""The questions about rules: may it be tried, changed, tried again, or stay although it began at once."""

from collections.abc import Sequence
from dataclasses import replace

from agent.asking.answers import pending_proposals, propose
from agent.asking.proposal import ProposalDraft, ProposedNote
from agent.growth.rules.candidates import RuleCandidate, SaidStrategy
from agent.growth.rules.found_methods import FoundTool
from agent.growth.rules.rule import LearnedRule, rule_sentence
from agent.growth.rules.rule_log import RuleLog, append_rows, log_row, logged_words
from agent.growth.rules.rule_note import (
    RuleEvidence,
    compose_rule,
    parse_rule,
    rule_paths,
    with_sources,
    with_status,
    with_words,
)
from agent.growth.rules.rule_work import RuleWork
from agent.markdown.inertness.active import inert_line
from agent.memory.entry import slug
from agent.texts import text
from agent.vault.change import Create
from agent.vault.folders import RULES


def new_rule(work: RuleWork, log: RuleLog, candidate: RuleCandidate) -> ProposalDraft:
    """The question whether a new rule may be tried."""
    rule = _new_rule(work, log, candidate.strategy.text, candidate.strategy.when)
    data = compose_rule(rule, candidate.strategy.effect, candidate.evidence, work.now, work.language)
    why = text("rules.why_new", work.language, count=len(candidate.said), uses=work.probation)
    question = text("rules.ask_new", work.language, rule=inert_line(candidate.sentence))
    draft = _draft(work, "new", rule, question, why, candidate.evidence)
    return replace(draft, notes=(ProposedNote(rule.path, data.decode()),))


def method_rule(work: RuleWork, log: RuleLog, tool: FoundTool, said: str, case: str) -> ProposalDraft:
    """The question whether a tool that research has found, and that the person has ticked, may be tried as a rule."""
    rule, source = _new_rule(work, log, said, case), RuleEvidence(tool.day, tool.link, tool.use)
    begun = text("rules.version_found", work.language, day=work.now.date().isoformat(), link=tool.link)
    data = compose_rule(rule, "", [source], work.now, work.language, begun)
    who = tool.who or text("rules.method_own", work.language)
    why = text("rules.why_method", work.language, who=who, link=tool.link, uses=work.probation)
    question = text("rules.ask_new", work.language, rule=inert_line(rule.sentence))
    draft = _draft(work, "method", rule, question, why, [source])
    marked = {**draft.facts, "untrusted": tool.who} if tool.who else draft.facts
    return replace(draft, notes=(ProposedNote(rule.path, data.decode()),), facts=marked)


def rule_again(work: RuleWork, rule: LearnedRule, candidate: RuleCandidate) -> ProposalDraft:
    """The question whether a rule that was set aside may be tried again."""
    data = with_status(replace(rule, data=with_sources(rule, candidate.evidence, work.language)), "probation")
    why = text("rules.why_again", work.language, link=rule.link, count=len(candidate.said), uses=work.probation)
    question = text("rules.ask_again", work.language, rule=inert_line(rule.sentence))
    draft = _draft(work, "again", rule, question, why, candidate.evidence)
    return replace(draft, notes=(_edited(rule, data),))


def changed_rule(work: RuleWork, rule: LearnedRule, said: str, case: str, candidate: RuleCandidate) -> ProposalDraft:
    """The question whether a rule may get other words, for more cases, as its next version."""
    data = with_words(rule, said, case, candidate.evidence, work.now, work.language)
    new = inert_line(rule_sentence(said, case))
    why = text("rules.why_wider", work.language, link=rule.link, count=len(candidate.said))
    question = text("rules.ask_wider", work.language, rule=new)
    draft = _draft(work, "change", rule, question, why, candidate.evidence)
    return replace(draft, notes=(_edited(rule, data),), facts={**draft.facts, "words": logged_words(new)})


def start_urgent(work: RuleWork, log: RuleLog, said: SaidStrategy) -> LearnedRule:
    """Let a rule that only restricts take effect at once, and ask whether it may stay: all in one commit."""
    rule = _new_rule(work, log, said.strategy.text, said.strategy.when)
    data = compose_rule(rule, said.strategy.effect, [said.evidence], work.now, work.language)
    rule = parse_rule(rule.path, data) or rule
    row = log_row(rule, work.now, "urgent", "agent", said.evidence.link)
    question = text("rules.ask_urgent", work.language, rule=inert_line(said.sentence))
    why = text("rules.why_urgent", work.language, link=rule.link)
    draft = _draft(work, "urgent", rule, question, why, [said.evidence])
    also = (Create(rule.path, data), append_rows(work.vault.home, [row], work.language))
    propose(work.vault, draft, work.language, also=also)
    return rule


def free_rule_path(work: RuleWork, log: RuleLog, said: str) -> str:
    """A path for the note of a new rule, which no rule has or had."""
    home = work.vault.home
    asked = (each.facts.get("rule", "") for each in pending_proposals(work.vault, "rule"))
    taken = {path.casefold() for path in (*rule_paths(work.vault), *log.paths, *asked)}
    name = slug(said) or "rule"
    numbered = (name if number == 1 else f"{name}-{number}" for number in range(1, 10_000))
    paths = (home.at(f"{RULES}{each}.md") for each in numbered)
    return next(path for path in paths if path.casefold() not in taken and work.vault.read(path) is None)


def _new_rule(work: RuleWork, log: RuleLog, said: str, case: str) -> LearnedRule:
    path = free_rule_path(work, log, said)
    return LearnedRule(path, inert_line(said), inert_line(case), "probation", id=work.vault.clock.new_id())


def _draft(
    work: RuleWork, asks: str, rule: LearnedRule, question: str, why: str, evidence: Sequence[RuleEvidence]
) -> ProposalDraft:
    rows = "\n".join(f"- {each.day} {each.link}: {inert_line(each.words)}" for each in evidence)
    return ProposalDraft(
        "rule",
        rule.name,
        question,
        why,
        (),
        ((text("rules.sources", work.language), rows),),
        tuple(dict.fromkeys(each.link for each in evidence)),
        {"asks": asks, "rule": rule.path, "words": logged_words(rule.sentence)},
        work.actor,
    )


def _edited(rule: LearnedRule, data: bytes) -> ProposedNote:
    return ProposedNote(rule.path, data.decode("utf-8", "replace"), rule.data.decode("utf-8", "replace"))
