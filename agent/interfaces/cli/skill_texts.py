"""The output of `vault-agent skills` as JSON documents and as text: skills, problems and matches."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime

from agent.interfaces.cli.job_texts import setting_lines
from agent.interfaces.cli.language import listed, tr
from agent.interfaces.cli.printing import beside, columns, padded
from agent.interfaces.cli.time_format import format_time
from agent.markdown.title import clipped
from agent.runs.skill_preview import SkillPreview, format_match
from agent.skills.history.stats import ENOUGH, Stats
from agent.skills.history.usage import Opinion, Use
from agent.skills.loading.library import SkillSnapshot
from agent.skills.matching.skill_text import Match, MatchStatus
from agent.skills.reading.skill import Product, Skill, SkillProblem, Triggers
from agent.vault.folders import SKILLS, AgentFolder

_SUMMARY = 90
_HEADS = (("uses", 6), ("success", 9), ("helpful", 9), ("not", 5), ("fixed", 7), ("factor", 8))
"""The columns of the statistics: what is counted, and the width."""
_SHOWN = frozenset({MatchStatus.ACTIVE, MatchStatus.OFFERED, MatchStatus.UNREVIEWED})


def problem_line(problem: SkillProblem) -> str:
    """A problem for people."""
    return f"{problem.path}:{problem.line}: {problem.reason}"


def format_list(shelf: SkillSnapshot, home: AgentFolder, on_trial: Collection[str] = ()) -> str:
    """All skills and problems; `on_trial` are the names of those of which a variant is tried."""
    width = max((len(skill.name) for skill in shelf.candidates), default=0)
    lines = []
    for skill in shelf.candidates:
        summary = clipped(skill.summary, _SUMMARY)
        marks = [] if skill.reviewed else [tr("unreviewed")]
        marks += [tr("a variant is on trial")] if skill.name in on_trial else []
        marked = tr(" ({marks})", marks=listed(marks)) if marks else ""
        lines += beside(f"{skill.name:<{width}}  {padded(tr(str(skill.source)), 8)} ", summary + marked)
    lines += ["", tr("cannot be used:"), *map(problem_line, shelf.errors)] if shelf.errors else []
    lines += ["", tr("used, with a warning:"), *map(problem_line, shelf.warnings)] if shelf.warnings else []
    if any(not skill.reviewed for skill in shelf.candidates):
        lines += ["", tr("unreviewed skills are not used: vault-agent skills review NAME")]
    return "\n".join(lines) or tr("there are no skills; write one: {skills}NAME/SKILL.md", skills=home.at(SKILLS))


def format_skill(skill: Skill) -> str:
    """A skill in full: its description, its text, its files."""
    facts = [
        f"# {skill.name}",
        skill.summary,
        tr("{problem}: {words}", problem=tr(str(skill.source)), words=skill.path),
    ]
    triggers = skill.triggers
    if triggers is not None:
        facts += [tr("wanted when the task has: {intent}", intent=intent) for intent in triggers.patterns]
        facts += [tr("or the tools: {tools}", tools=listed(triggers.tools))] if triggers.tools else []
        facts += [tr("or the words: {keywords}", keywords=listed(triggers.keywords))] if triggers.keywords else []
    facts += [tr("wanted when: {condition}", condition=condition) for condition in skill.conditions]
    if skill.allowed_tools is not None:
        facts.append(tr("tools it may use: {tools}", tools=listed(skill.allowed_tools) or tr("none")))
    facts += [
        tr("step {number}: {skill}", number=number, skill=step.skill) for number, step in enumerate(skill.chain, 1)
    ]
    facts += [tr("beside it: {path}", path=path) for path in skill.files]
    return "\n".join([*facts, "", *_settings(skill), "", skill.body])


def _settings(skill: Skill) -> list[str]:
    """Each setting of a skill that is not shown otherwise, with the value that holds."""
    triggers, product = skill.triggers or Triggers(), skill.product or Product()
    values = {
        "activation": "always" if skill.is_always else "offered",
        "priority": skill.priority,
        "exclusive_group": skill.exclusive_group,
        "prerequisites": skill.prerequisites,
        "cooldown": skill.cooldown,
        "max_tokens": skill.max_tokens or None,
        "success_rate": skill.success_rate,
        "triggers.confidence_threshold": triggers.threshold,
        "triggers.context_signals.slots": dict(triggers.slots),
        "triggers.except_patterns": [each.text for each in triggers.exceptions],
        "output": {"format": product.format, "artifacts": product.artifacts, "artifact_type": product.artifact_type},
    }
    written = [key for key in values if key.partition(".")[0] in skill.lines]
    return setting_lines(values, written)


def format_matches(found: SkillPreview, everything: bool) -> str:
    """The skills that fit, and with `everything` the others and the index, each with its signals and the decision."""
    matched = found.matched
    matches = [each for each in matched.matches if everything or each.status in _SHOWN]
    blocks = ["\n".join(_lines(each, everything)) for each in matches]
    if everything:
        names = {each.skill.name for each in matched.matches}
        rest = [name for name in (*found.index.names, *found.left_out) if name not in names]
        blocks += [tr("nothing speaks for: {rest}", rest=listed(rest))] if rest else []
        blocks.append("\n".join(_summary_lines(found)))
    off = [] if found.auto else [tr("runs are given no skills: skills.auto is off")]
    return "\n\n".join([*(blocks or [tr("no skill fits")]), *off])


def _summary_lines(found: SkillPreview) -> Iterator[str]:
    used = sum(each.tokens for each in found.matched.active)
    yield tr(
        "a window of {tokens:,} tokens leaves {room:,} for skills; {used:,} are used",
        tokens=found.window.tokens,
        room=found.room,
        used=used,
    )
    if found.index.names:
        yield tr(
            "in the index of skills, {tokens:,} tokens: {names}",
            tokens=found.index.tokens,
            names=listed(found.index.names),
        )
    if found.left_out:
        yield tr("not in the index: {out}", out=listed(found.left_out))


def format_stats(counts: Mapping[str, Stats], last: Iterable[Use], now: datetime) -> str:
    """The counts of skills as a table, and the last runs of a single skill."""
    width = max(32, *(len(name) + 2 for name in counts)) if counts else 32
    heads = [" " * (room - columns(head)) + head for head, room in ((tr(name), room) for name, room in _HEADS)]
    lines = [padded(tr("skill"), width) + "".join(heads)]
    for name, count in counts.items():
        rate = f"{count.success_rate:.0%}" if count.success_rate is not None else "-"
        lines.append(
            f"{name:<{width}}{count.uses:>6}{rate:>9}{count.helpful:>9}{count.not_helpful:>5}{count.corrected:>7}"
            f"{count.factor:>8.1f}"
        )
    rows = [
        f"{format_time(use.time, now)}  {use.run}  {tr(use.outcome) if use.outcome else '-'}  {_opinion(use)}"
        for use in last
    ]
    return "\n".join([*lines, *([""] if rows else []), *rows])


def format_rating(name: str, opinion: Opinion, counts: Stats) -> str:
    """The effect of a rating on the score of a skill."""
    word = tr(opinion.replace("_", " "))
    if counts.uses < ENOUGH:
        return tr(
            "noted: {name} was {word}; it counts from {enough} uses on, and this makes {uses}",
            name=name,
            word=word,
            enough=ENOUGH,
            uses=counts.uses,
        )
    effect = (
        tr("{factor:.1f} times what its signals give", factor=counts.factor)
        if counts.factor != 1.0
        else tr("what its signals give")
    )
    return tr("noted: {name} was {word}; its score is {effect}", name=name, word=word, effect=effect)


def _opinion(use: Use) -> str:
    return tr(use.feedback.replace("_", " ") or "nothing said")


def _lines(each: Match, everything: bool) -> Iterator[str]:
    status = tr(str(each.status))
    yield f"{each.skill.name}  {each.score:.2f}  " + (
        tr("{problem}: {words}", problem=status, words=tr(each.why)) if each.why else status
    )
    if not everything:
        return
    for signal in each.signals:
        yield f"  {signal.weight:.2f}  {signal.type}: {tr(signal.detail)}"
    if each.factor != 1.0:
        yield tr("  × {factor:.1f}  feedback", factor=each.factor)
    parts = [tr("= {score:.2f}, needed {threshold:.2f}", score=each.score, threshold=each.threshold)]
    if each.score < each.threshold < each.score + 0.01:
        parts[0] += tr(", short by less than 0.01")
    parts.append(tr("priority {priority}", priority=each.skill.priority))
    if each.skill.exclusive_group:
        parts.append(tr("group {group}", group=each.skill.exclusive_group))
    yield f"  {tr('; ').join(parts)}"
    yield f"  {tr(format_match(each))}"
