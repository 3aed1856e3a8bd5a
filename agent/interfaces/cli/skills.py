"""`vault-agent skills`: lists, validates, matches, reviews, installs, rates and learns skills."""

from contextlib import closing
from typing import TYPE_CHECKING

import click

from agent.app.open import open_workspace
from agent.context.tokens import estimate
from agent.errors import UserError
from agent.interfaces.cli.language import listed, said
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes
from agent.interfaces.cli.skill_texts import (
    format_list,
    format_matches,
    format_rating,
    format_skill,
    format_stats,
    problem_line,
)
from agent.interfaces.cli.skill_trials import trials
from agent.lazy import later
from agent.runs.skill_feedback import gather_feedback
from agent.runs.skill_learning import skill_learning
from agent.runs.skill_lookup import find_skill, skills_on_demand
from agent.runs.skill_preview import preview_skills
from agent.runs.skill_set import skill_library, skill_set
from agent.skills.documents import (
    match_document,
    offer_document,
    problem_document,
    problems_document,
    skill_document,
    suggestion_document,
    use_document,
)
from agent.skills.history.stats import stats_document
from agent.skills.history.usage import Opinion, load_uses, merge_opinions
from agent.skills.learning.offer_news import take_news
from agent.skills.learning.offer_records import OfferStatus
from agent.skills.loading.files import BadFolder
from agent.skills.loading.install import install as install_from
from agent.skills.matching.matcher import MatchTask
from agent.skills.matching.selection import MatchStatus
from agent.skills.reading.skill import SkillSource
from agent.skills.trust.review_note import revoke as withdraw
from agent.skills.variants.trial_records import open_trials
from agent.vault.folders import SKILLS
from agent.workspace.search_index import open_index

if TYPE_CHECKING:
    from agent.app.agent import build_runs, counting
    from agent.app.replays import draft_measure
else:
    build_runs = later("agent.app.agent", "build_runs")
    counting = later("agent.app.agent", "counting")
    draft_measure = later("agent.app.replays", "draft_measure")

_SHOWN = {MatchStatus.ACTIVE, MatchStatus.SUMMARY, MatchStatus.UNREVIEWED}
_DECIDED: dict[OfferStatus, str] = {
    "accepted": "{name} was accepted",
    "rejected": "{name} was rejected",
    "outdated": "{name} is outdated",
}
_RUNS = 10
"""The most runs of one skill that are shown."""


@click.group(short_help="List, match, review, rate and learn skills.", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Skills are instructions for a kind of work: folders with a SKILL.md, in your vault's skills/ or in the program.

    A skill that fits a task is shown to the model automatically, after you have reviewed it.
    """
    if ctx.invoked_subcommand is None:
        _list(ctx.obj)


command.add_command(trials)


@command.command("list", short_help="List all skills, and what is wrong with some.")
@click.pass_obj
def list_(output: Output) -> None:
    """List all skills, why some cannot be used, and the warnings about others."""
    _list(output)


def _list(output: Output) -> None:
    workspace = open_workspace(output.vault())
    library = skill_library(workspace)
    shelf = library.snapshot()
    on_trial = {record.skill for record in open_trials(workspace.vault) if record.status == "trial"}
    documents = [skill_document(skill) for skill in shelf.candidates]
    problems = problems_document(shelf.errors, shelf.warnings)
    output.emit({"skills": documents, **problems}, lambda: format_list(shelf, library.home, on_trial))


@command.command()
@click.argument("name")
@click.pass_obj
def show(output: Output, name: str) -> None:
    """Show the text of a skill, and its files."""
    skill = find_skill(skill_library(open_workspace(output.vault())), name)
    output.emit({**skill_document(skill), "files": skill.files, "body": skill.body}, lambda: format_skill(skill))


@command.command(
    short_help="Check the files of skills: what makes some unusable, and warnings.",
    epilog=exit_codes("a skill cannot be used"),
)
@click.argument("name", required=False)
@click.pass_obj
def validate(output: Output, name: str | None) -> None:
    """Check the files of all skills, or of the skill NAME: what makes it unusable, and what only breaks the format.

    A limit of the format that is broken, such as a long description, is a warning: the skill is used all the same.
    """
    library = skill_library(open_workspace(output.vault()))
    shelf = library.snapshot()
    errors, warnings = (
        [each for each in found if not name or f"/{name}/" in each.path] for found in (shelf.errors, shelf.warnings)
    )
    if name and not errors:
        find_skill(library, name)
    lines = [said("cannot be used: {each}", each=problem_line(each)) for each in errors]
    lines += [said("warning: {text}", text=problem_line(each)) for each in warnings]
    document = {"ok": not errors, **problems_document(errors, warnings)}
    output.emit(document, "\n".join(lines) or said("{name} is as it should be", name=name or said("every skill")))
    if errors:
        raise CheckFailed


@command.command()
@click.argument("task")
@click.option("--explain", is_flag=True, help="Print every signal and weight, and why each skill is used or not.")
@click.option("--tool", "tools", multiple=True, metavar="NAME", help="A tool that was used lately; may be repeated.")
@click.option("--slot", "slots", multiple=True, metavar="NAME=VALUE", help="A known value; may be repeated.")
@click.pass_obj
def match(output: Output, task: str, explain: bool, tools: tuple[str, ...], slots: tuple[str, ...]) -> None:
    """Show the skills that a run would be given for TASK, in the window of your model."""
    if not task.strip():
        raise UserError("the task is empty", hint='vault-agent skills match "Plan my week"')
    bad = next((slot for slot in slots if "=" not in slot), None)
    if bad is not None:
        raise UserError("{bad} is no slot", hint="--slot task_type=research", bad=bad)
    known = {"channel": "cli"} | {name: value for name, _, value in (slot.partition("=") for slot in slots)}
    found = preview_skills(skills_on_demand(open_workspace(output.vault())), MatchTask(task, tools, known))
    documents = [match_document(each) for each in found.matched.matches]
    shown = [each for each in documents if each["fate"] in _SHOWN]
    others = [each for each in documents if each["fate"] not in _SHOWN]
    document = {
        "matches": shown,
        "others": others,
        "index": list(found.index.names),
        "room": found.room,
        "window": found.window.tokens,
        "auto": found.auto,
    }
    output.emit(document, lambda: format_matches(found, explain))


@command.command(short_help="Trust a skill as it is now; without NAME, list the others.")
@click.argument("name", required=False)
@click.option("--revoke", is_flag=True, help="Trust it no more.")
@click.pass_obj
def review(output: Output, name: str | None, revoke: bool) -> None:
    """Trust the current version of the skill NAME on this machine; without NAME, list the skills not reviewed.

    It is shown in full. When any of its files changes, it has to be reviewed again.
    """
    found = skill_set(open_workspace(output.vault()), lambda: None, estimate)
    found.ticked()
    shelf = found.library.snapshot()
    if name is None and revoke:
        raise UserError("--revoke needs the name of a skill", hint="vault-agent skills list")
    if name is None:
        waiting = [skill for skill in shelf.candidates if not skill.reviewed]
        lines = [f"{skill.name}  {skill.path}" for skill in waiting] or [said("every skill has been reviewed")]
        output.emit({"unreviewed": [skill_document(skill) for skill in waiting]}, "\n".join(lines))
        return
    waiting = [skill for skill in shelf.candidates if skill.name == name and not skill.reviewed]
    skill = waiting[0] if waiting and not revoke else find_skill(found.library, name)
    if revoke and skill.source is SkillSource.PACKAGE:
        raise UserError(
            "{name} comes with the program",
            hint="a skill of yours in {skills}{name}/ goes before it",
            name=name,
            skills=found.library.home.at(SKILLS),
        )
    try:
        if revoke:
            withdraw(found.library, skill)
            output.emit({"name": name, "reviewed": False}, said("{name} is not trusted any more", name=name))
            return
        pin = found.review(skill, "skills review")
    except (BadFolder, OSError) as error:
        raise UserError(
            "{name} could not be reviewed: {error}", hint="run the command again", name=name, error=error
        ) from error
    output.emit(
        {**skill_document(skill), "reviewed": True, "digest": pin.digest},
        lambda: "\n\n".join([format_skill(skill), said("reviewed: {name}", name=name)]),
    )


@command.command()
@click.argument("source", metavar="PATH|GIT-URL")
@click.option("--skill", "names", multiple=True, metavar="NAME", help="Only this skill; may be repeated.")
@click.pass_obj
def install(output: Output, source: str, names: tuple[str, ...]) -> None:
    """Copy skills from a folder or a repository into the vault. Nothing is run, and nothing is trusted yet."""
    workspace = open_workspace(output.vault())
    done = install_from(workspace.vault, source, names)
    lines = [problem_line(each) for each in done.problems]
    lines += [said("installed: {names}", names=listed(done.names))]
    lines += [
        said("waiting: {queued}", queued=said(done.queued))
        if done.queued
        else said("commit {commit}", commit=(done.commit or "")[:12])
    ]
    lines += ["", *(said("look at it, then: vault-agent skills review {name}", name=name) for name in done.names)]
    problems = [problem_document(each) for each in done.problems]
    found = {
        "installed": list(done.names),
        "commit": done.commit,
        "queued": done.queued,
        "problems": problems,
    }
    output.emit(found, "\n".join(lines))


@command.command(short_help="Show how skills were used, and what came of it.")
@click.argument("name", required=False)
@click.pass_obj
def stats(output: Output, name: str | None) -> None:
    """Show how often skills were used, and with what outcome; with NAME also its last runs."""
    workspace = open_workspace(output.vault())
    found = skills_on_demand(workspace)
    shelf = found.library.snapshot()
    gather_feedback(workspace, shelf.named)
    names = [find_skill(found.library, name).name] if name else sorted(shelf.named)
    counts = {each: found.history.stats(each) for each in names}
    last = list(merge_opinions(load_uses(workspace.vault, names[0])))[-_RUNS:] if name else []
    known: dict[str, object] = {"stats": [{"name": each, **stats_document(count)} for each, count in counts.items()]}
    more = {"runs": [use_document(use) for use in last]} if name else {}
    output.emit(known | more, lambda: format_stats(counts, last))


@command.command()
@click.argument("name")
@click.argument("verdict", type=click.Choice(["helpful", "not-helpful", "not_helpful"]), metavar="helpful|not-helpful")
@click.option("--run", default="", metavar="ID", help="The run that is meant; else the last one without a word.")
@click.pass_obj
def feedback(output: Output, name: str, verdict: str, run: str) -> None:
    """Record if a skill was helpful."""
    workspace = open_workspace(output.vault())
    gone: list[str] = []
    opinion: Opinion = "helpful" if verdict == "helpful" else "not_helpful"
    with counting(workspace) as publish:
        found = skills_on_demand(workspace, publish)
        found.say, found.tell = output.warn, gone.append
        skill = find_skill(found.library, name)
        use = found.person_says(skill.name, opinion, run)
    counts = found.history.stats(skill.name)
    known = {
        "name": skill.name,
        "feedback": opinion,
        "run": use.run,
        **stats_document(counts),
        "put_aside": "; ".join(gone),
    }
    output.emit(known, "\n".join([format_rating(skill.name, opinion, counts), *gone]))


@command.command(short_help="List workflows that could become skills.")
@click.pass_obj
def suggest(output: Output) -> None:
    """List the suggestions that wait for your answer, and other workflows that could be learned from your runs.

    Nothing is written; `skills learn` asks you about them in notes.
    """
    found = skills_on_demand(open_workspace(output.vault()))
    learner = skill_learning(found, None)
    waiting = learner.offers.pending()
    more = learner.offers.suggest(found.library.snapshot().skills)
    lines = [
        said("{name}  {tools}  waits in {path}", name=each.name, tools=" → ".join(each.tools), path=each.path)
        for each in waiting
    ]
    lines += [
        said(
            "{name}  {tools}  followed by {count} runs",
            name=each.name,
            tools=" → ".join(each.tools),
            count=each.support,
        )
        for each in more
    ]
    lines += ["", said("yes or no: vault-agent skills learn --accept NAME, or --reject NAME")] if waiting else []
    lines += ["", said("to be asked about them: vault-agent skills learn")] if more else []
    output.emit(
        {"waiting": [offer_document(each) for each in waiting], "more": [suggestion_document(each) for each in more]},
        "\n".join(lines) or said("no workflow has come back often enough yet"),
    )


@command.command(short_help="Learn skills from workflows that came back.")
@click.option("--accept", metavar="NAME", help="Say yes to the suggestion of this name.")
@click.option("--reject", metavar="NAME", help="Say no to it; it comes again only if it is done twice as often.")
@click.option("--because", default="", metavar="TEXT", help="With --reject: why.")
@click.pass_obj
def learn(output: Output, accept: str | None, reject: str | None, because: str) -> None:
    """Ask about repeated workflows, in one note in approvals/ for each; or answer such a question here.

    A skill is written only after your yes, to skills/learned/, and you may edit it from then on.
    """
    if accept and reject:
        raise click.UsageError(said("--accept and --reject answer differently; give one of them"))
    if because and not reject:
        raise click.UsageError(said("--because belongs to --reject NAME"))
    workspace = open_workspace(output.vault())
    if accept or reject:
        learner = skill_learning(skills_on_demand(workspace), None)
        offer = learner.accept(accept) if accept else learner.reject(reject or "", because)
        answers = {
            "accepted": said("learned: {skill}", skill=offer.skill),
            "rejected": said("{name} is not learned", name=offer.name),
        }
        take_news(workspace.vault)
        none = said("nothing was learned: {reason}", reason=said(offer.reason))
        output.emit(offer_document(offer), answers.get(offer.status, none))
        return
    with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as agent:
        measure = draft_measure(workspace, lambda: index.chosen)
        learner = skill_learning(agent.following.skills, agent.account, agent.bus.publish, measure)
        decided, waiting = learner.settle(), learner.offers.pending()
        made = learner.learn()
    take_news(workspace.vault)  # all of it is printed here
    lines = [said(_DECIDED.get(each.status, "{name} waits"), name=each.name) for each in decided]
    lines += [
        said("{name}: {tools}; answer in {path}", name=each.name, tools=" → ".join(each.tools), path=each.path)
        for each in made
    ]
    lines += [said("{name} waits for your answer in {path}", name=each.name, path=each.path) for each in waiting]
    lines += [said("or: vault-agent skills learn --accept NAME")] if made or waiting else []
    output.emit(
        {"offered": [offer_document(each) for each in made], "decided": [offer_document(each) for each in decided]},
        "\n".join(lines) or said("no workflow has come back often enough yet"),
    )
