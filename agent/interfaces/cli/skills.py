"""`vault-agent skills`: lists, validates, matches, reviews, installs, rates and learns skills."""

from contextlib import closing
from typing import TYPE_CHECKING

import click

from agent.app.open import open_workspace
from agent.asking.proposal import ProposalStatus
from agent.context.budget import estimate
from agent.deeds import skills as deeds
from agent.errors import UserError
from agent.interfaces.cli import skill_texts as texts
from agent.interfaces.cli.declare import group, in_vault
from agent.interfaces.cli.language import listed, tr
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes
from agent.interfaces.cli.skill_trials import trials
from agent.lazy import later
from agent.markdown.title import clipped
from agent.runs.skill_feedback import gather_feedback
from agent.runs.skill_learning import skill_learning
from agent.runs.skill_lookup import find_skill, skills_on_demand
from agent.runs.skill_set import skill_library, skill_set
from agent.skills.history.usage import Opinion, load_uses, merge_opinions
from agent.skills.learning.offer_news import take_news
from agent.skills.learning.suggestion import tools_of
from agent.skills.loading.files import BadFolder
from agent.skills.loading.install import install as install_from
from agent.skills.matching.matcher import MatchTask
from agent.skills.matching.skill_text import MatchStatus
from agent.skills.variants.trial_shelf import open_trials
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.app.agent import build_runs, counting
else:
    build_runs = later("agent.app.agent", "build_runs")
    counting = later("agent.app.agent", "counting")

_SHOWN = {MatchStatus.ACTIVE, MatchStatus.OFFERED, MatchStatus.UNREVIEWED}
_DECIDED: dict[ProposalStatus, str] = {
    "approved": "{name} was accepted",
    "rejected": "{name} was rejected",
    "outdated": "{name} is outdated",
}
_RUNS = 10
"""The most runs of one skill that are shown."""
_TASK = 80


@group("list")
def command() -> None:
    """Skills are instructions for a kind of work: folders with a SKILL.md, in your vault's skills/ or in the program.

    A skill that fits a task is shown to the model automatically, after you have reviewed it.
    """


command.add_command(trials)


@command.command("list", short_help="List all skills, and what is wrong with some.")
@in_vault
def list_(output: Output, workspace: Workspace) -> None:
    """List all skills, why some cannot be used, and the warnings about others."""
    library = skill_library(workspace)
    shelf = library.snapshot()
    on_trial = {record.skill for record in open_trials(workspace.vault) if record.status == "trial"}
    output.emit(lambda: deeds.list_skills(workspace), lambda: texts.format_list(shelf, library.home, on_trial))


@command.command()
@click.argument("name")
@in_vault
def show(output: Output, workspace: Workspace, name: str) -> None:
    """Show the text of a skill, and its files."""
    output.emit(
        lambda: deeds.show_skill(workspace, name),
        lambda: texts.format_skill(find_skill(skill_library(workspace), name)),
    )


@command.command(
    short_help="Check the files of skills: what makes some unusable, and warnings.",
    epilog=exit_codes("a skill cannot be used"),
)
@click.argument("name", required=False)
@in_vault
def validate(output: Output, workspace: Workspace, name: str | None) -> None:
    """Check the files of all skills, or of the skill NAME: what makes it unusable, and what only breaks the format.

    A limit of the format that is broken, such as a long description, is a warning: the skill is used all the same.
    """
    library = skill_library(workspace)
    shelf = library.snapshot()
    errors, warnings = (
        [each for each in found if not name or f"/{name}/" in each.path] for found in (shelf.errors, shelf.warnings)
    )
    if name and not errors:
        find_skill(library, name)
    lines = [tr("cannot be used: {each}", each=texts.problem_line(each)) for each in errors]
    lines += [tr("warning: {text}", text=texts.problem_line(each)) for each in warnings]
    document = {"ok": not errors, "problems": deeds.skill_problems(errors), "warnings": deeds.skill_problems(warnings)}
    output.emit(document, "\n".join(lines) or tr("{name} is as it should be", name=name or tr("every skill")))
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
    bad = next((slot for slot in slots if "=" not in slot), None)
    if bad is not None:
        raise UserError("{bad} is no slot", hint="--slot task_type=research", bad=bad)
    known = {"channel": "cli"} | {name: value for name, _, value in (slot.partition("=") for slot in slots)}
    found = deeds.preview_task(open_workspace(output.vault()), MatchTask(task, tools, known))
    views = deeds.matches_of(found)
    document = {
        **views.document(),
        "matches": [each for each in views.matches if each.fate in _SHOWN],
        "others": [each for each in views.matches if each.fate not in _SHOWN],
        "window": found.window.tokens,
    }
    output.emit(document, lambda: texts.format_matches(found, explain))


@command.command(short_help="Trust a skill as it is now; without NAME, list the others.")
@click.argument("name", required=False)
@click.option("--revoke", is_flag=True, help="Trust it no more.")
@in_vault
def review(output: Output, workspace: Workspace, name: str | None, revoke: bool) -> None:
    """Trust the current version of the skill NAME on this machine; without NAME, list the skills not reviewed.

    It is shown in full. When any of its files changes, it has to be reviewed again.
    """
    found = skill_set(workspace, lambda: None, estimate)
    found.ticked()
    shelf = found.library.snapshot()
    if name is None and revoke:
        raise UserError("--revoke needs the name of a skill", hint="vault-agent skills list")
    if name is None:
        waiting = [skill for skill in shelf.candidates if not skill.reviewed]
        lines = [f"{skill.name}  {skill.path}" for skill in waiting] or [tr("every skill has been reviewed")]
        output.emit({"unreviewed": deeds.skill_views(waiting)}, "\n".join(lines))
        return
    if revoke:
        output.emit(deeds.distrust_skill(workspace, name), tr("{name} is not trusted any more", name=name))
        return
    waiting = [skill for skill in shelf.candidates if skill.name == name and not skill.reviewed]
    skill = waiting[0] if waiting else find_skill(found.library, name)
    try:
        pin = found.review(skill, "skills review")
    except (BadFolder, OSError) as error:
        raise UserError(
            "{name} could not be reviewed: {error}", hint="run the command again", name=name, error=error
        ) from error
    output.emit(
        {**deeds.skill_views([skill])[0].document(), "reviewed": True, "digest": pin.digest},
        lambda: "\n\n".join([texts.format_skill(skill), tr("reviewed: {name}", name=name)]),
    )


@command.command()
@click.argument("source", metavar="PATH|GIT-URL")
@click.option("--skill", "names", multiple=True, metavar="NAME", help="Only this skill; may be repeated.")
@in_vault
def install(output: Output, workspace: Workspace, source: str, names: tuple[str, ...]) -> None:
    """Copy skills from a folder or a repository into the vault. Nothing is run, and nothing is trusted yet."""
    done = install_from(workspace.vault, source, names)
    lines = [texts.problem_line(each) for each in done.problems]
    lines += [tr("installed: {names}", names=listed(done.names))]
    lines += [
        tr("waiting: {queued}", queued=tr(done.queued))
        if done.queued
        else tr("commit {commit}", commit=(done.commit or "")[:12])
    ]
    lines += ["", *(tr("look at it, then: vault-agent skills review {name}", name=name) for name in done.names)]
    found = {
        "installed": list(done.names),
        "commit": done.commit,
        "queued": done.queued,
        "problems": deeds.skill_problems(done.problems),
    }
    output.emit(found, "\n".join(lines))


@command.command(short_help="Show how skills were used, and what came of it.")
@click.argument("name", required=False)
@in_vault
def stats(output: Output, workspace: Workspace, name: str | None) -> None:
    """Show how often skills were used, and with what outcome; with NAME also its last runs."""
    found = skills_on_demand(workspace)
    shelf = found.library.snapshot()
    gather_feedback(workspace, shelf.named)
    names = [find_skill(found.library, name).name] if name else sorted(shelf.named)
    counts = {each: found.history.stats(each) for each in names}
    last = list(merge_opinions(load_uses(workspace.vault, names[0])))[-_RUNS:] if name else []
    known: dict[str, object] = {"stats": [{"name": each, **deeds.skill_stats(count)} for each, count in counts.items()]}
    more = {"runs": [deeds.UseView.of(use) for use in last]} if name else {}
    output.emit(known | more, lambda: texts.format_stats(counts, last, workspace.clock.now()))


@command.command()
@click.argument("name")
@click.argument("verdict", type=click.Choice(["helpful", "not-helpful", "not_helpful"]), metavar="helpful|not-helpful")
@click.option("--run", default="", metavar="ID", help="The run that is meant; else the last one without a word.")
@in_vault
def feedback(output: Output, workspace: Workspace, name: str, verdict: str, run: str) -> None:
    """Record if a skill was helpful."""
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
        **deeds.skill_stats(counts),
        "put_aside": "; ".join(gone),
    }
    output.emit(known, "\n".join([texts.format_rating(skill.name, opinion, counts), *gone]))


@command.command(short_help="List workflows that could become skills.")
@in_vault
def suggest(output: Output, workspace: Workspace) -> None:
    """List the suggestions that wait for your answer, and other workflows that could be learned from your runs.

    Nothing is written; `skills learn` asks you about them in notes.
    """
    found = skills_on_demand(workspace)
    learner = skill_learning(found, None)
    waiting = learner.offers.pending()
    more = learner.offers.suggest(found.library.snapshot().skills)
    lines = [
        tr("{name}  {tools}  waits in {path}", name=each.name, tools=" → ".join(tools_of(each)), path=each.path)
        for each in waiting
    ]
    lines += [
        tr(
            "{tools}  followed by {count} runs, such as: {task}",
            tools=" → ".join(each.tools),
            count=each.support,
            task=clipped(next(iter(each.conditions), ""), _TASK),
        )
        for each in more
    ]
    lines += ["", tr("yes or no: vault-agent skills learn --accept NAME, or --reject NAME")] if waiting else []
    lines += ["", tr("to be asked about them: vault-agent skills learn")] if more else []
    output.emit(
        {
            "waiting": [deeds.offer_view(each) for each in waiting],
            "more": [
                deeds.SuggestionView.of(each, tasks=list(each.conditions), evidence=[run.path for run in each.evidence])
                for each in more
            ],
        },
        "\n".join(lines) or tr("no workflow has come back often enough yet"),
    )


@command.command(short_help="Learn skills from workflows that came back.")
@click.option("--accept", metavar="NAME", help="Say yes to the suggestion of this name.")
@click.option("--reject", metavar="NAME", help="Say no to it; it comes again only if it is done twice as often.")
@click.option("--because", default="", metavar="TEXT", help="With --reject: why.")
@click.option("--as", "name", metavar="NAME", help="Offer the first new workflow under this name, without a model.")
@click.pass_obj
def learn(output: Output, accept: str | None, reject: str | None, because: str, name: str | None) -> None:
    """Ask about repeated workflows, in one note in approvals/ for each; or answer such a question here.

    A model names and writes them; without one, --as names one. A skill is written only after your yes, to
    skills/learned/, and you may edit it from then on.
    """
    if sum(map(bool, (accept, reject, name))) > 1:
        raise click.UsageError(tr("--accept, --reject and --as do different things; give one of them"))
    if because and not reject:
        raise click.UsageError(tr("--because belongs to --reject NAME"))
    workspace = open_workspace(output.vault())
    if accept or reject:
        learner = skill_learning(skills_on_demand(workspace), None)
        offer = learner.accept(accept) if accept else learner.reject(reject or "", because)
        answers = {
            "approved": tr("learned: {skill}", skill=offer.notes[0].path),
            "rejected": tr("{name} is not learned", name=offer.name),
            "pending": tr("waits until git has finished what it is doing"),
        }
        take_news(workspace.vault)
        none = tr("nothing was learned: {reason}", reason=tr(offer.reason))
        output.emit(deeds.offer_view(offer), answers.get(offer.status, none))
        return
    with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as agent:
        learner = skill_learning(agent.following.skills, agent.account, agent.bus.publish)
        decided, waiting = learner.settle(), learner.offers.pending()
        made = (learner.learn_as(name),) if name else learner.learn()
        left = () if made or waiting else learner.offers.suggest(agent.following.skills.library.snapshot().skills)
    take_news(workspace.vault)  # all of it is printed here
    lines = [tr(_DECIDED.get(each.status, "{name} waits"), name=each.name) for each in decided]
    lines += [
        tr("{name}: {tools}; answer in {path}", name=each.name, tools=" → ".join(tools_of(each)), path=each.path)
        for each in made
    ]
    lines += [tr("{name} waits for your answer in {path}", name=each.name, path=each.path) for each in waiting]
    lines += [tr("or: vault-agent skills learn --accept NAME")] if made or waiting else []
    if left:
        lines.append(
            tr(
                "{count} workflows wait for a model that writes them; to name the first yourself: "
                "vault-agent skills learn --as NAME",
                count=len(left),
            )
        )
    output.emit(
        {"offered": [deeds.offer_view(each) for each in made], "decided": [deeds.offer_view(each) for each in decided]},
        "\n".join(lines) or tr("no workflow has come back often enough yet"),
    )
