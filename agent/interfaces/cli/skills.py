"""`vault-agent skills`: what the agent knows how to do, why it would do it for a task, and what came of it."""

from collections.abc import Callable
from contextlib import closing
from difflib import get_close_matches

import click

from agent.app.build import App, build
from agent.app.learning import learning
from agent.app.library import library
from agent.app.opinions import gather
from agent.app.runs import runs
from agent.app.skills import Skills, skill_library, skills
from agent.context.tokens import counter, estimate
from agent.errors import UserError
from agent.index.embedder import Embedder
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.skill_texts import (
    counted,
    document,
    explained,
    listed,
    offer_document,
    problem_document,
    problem_line,
    rated,
    suggestion_document,
    use_document,
    whole,
)
from agent.skills.conflicts import Fate
from agent.skills.feedback import as_document
from agent.skills.install import install as install_from
from agent.skills.library import Library
from agent.skills.matcher import Task
from agent.skills.read_skill import bad_name
from agent.skills.review_note import revoke as withdraw
from agent.skills.skill import FILE, Skill, Source
from agent.skills.tree import BadFolder
from agent.skills.usage import Opinion, folded, uses
from agent.vault.folders import DEPRECATED, SKILLS

_SHOWN = {Fate.ACTIVE, Fate.UNREVIEWED}
_RUNS = 10
"""Of one skill, so many of its last runs are shown."""


@click.group(short_help="List, match, review, rate and learn skills.")
def command() -> None:
    """Skills say how to do a kind of work. Each is a folder with a SKILL.md, in your vault's skills/ or in the program.

    One that fits a task is put before the model by itself, once you have looked at it.
    """


@command.command("list", short_help="List all skills, and what is wrong with some.")
@click.pass_obj
def list_(output: Output) -> None:
    """List all skills, and what is wrong with those that cannot be used."""
    shelf = skill_library(build(output.vault())).shelf()
    documents = [document(skill) for skill in shelf.candidates]
    problems = [problem_document(each) for each in shelf.problems]
    output.emit({"skills": documents, "problems": problems}, lambda: listed(shelf))


@command.command()
@click.argument("name")
@click.pass_obj
def show(output: Output, name: str) -> None:
    """Show a skill as it is written, with its files."""
    skill = _named(skill_library(build(output.vault())), name)
    output.emit({**document(skill), "files": skill.files, "body": skill.body}, lambda: whole(skill))


@command.command()
@click.argument("task")
@click.option("--explain", is_flag=True, help="Print every signal and weight, and why each skill is used or not.")
@click.option("--tool", "tools", multiple=True, metavar="NAME", help="A tool that was used lately; may be repeated.")
@click.option("--slot", "slots", multiple=True, metavar="NAME=VALUE", help="A known value; may be repeated.")
@click.pass_obj
def match(output: Output, task: str, explain: bool, tools: tuple[str, ...], slots: tuple[str, ...]) -> None:
    """Show which skills would be used for TASK."""
    if not task.strip():
        raise UserError("the task is empty", hint='vault-agent skills match "Plan my week"')
    bad = next((slot for slot in slots if "=" not in slot), None)
    if bad is not None:
        raise UserError(f"{bad} is no slot", hint="--slot task_type=research")
    known = {name: value for name, _, value in (slot.partition("=") for slot in slots)}
    matched = _skills(build(output.vault())).match(Task(task, tools, known))
    documents = [
        {
            "name": each.skill.name,
            "score": each.score,
            "signals": [
                {"type": signal.type, "detail": signal.detail, "weight": signal.weight} for signal in each.signals
            ],
            "base": each.base,
            "factor": each.factor,
            "threshold": each.threshold,
            "fate": each.fate.value,
            "why": each.why,
            "tokens": each.tokens,
            "cut": list(each.left_out),
            "path": each.skill.path,
        }
        for each in matched.matches
    ]
    shown = [each for each in documents if each["fate"] in _SHOWN]
    others = [each for each in documents if each["fate"] not in _SHOWN]
    output.emit({"matches": shown, "others": others}, lambda: explained(matched, explain))


@command.command(short_help="Trust a skill as it is now; without NAME, list the others.")
@click.argument("name", required=False)
@click.option("--revoke", is_flag=True, help="Trust it no more.")
@click.pass_obj
def review(output: Output, name: str | None, revoke: bool) -> None:
    """Trust the skill NAME as it is now on this machine; without NAME, list those that nobody has looked at.

    It is shown in full. When any of its files changes, it has to be reviewed again.
    """
    found = skills(build(output.vault()), lambda: None, estimate)
    found.ticked()
    shelf = found.library.shelf()
    if name is None and revoke:
        raise UserError("--revoke needs the name of a skill", hint="vault-agent skills list")
    if name is None:
        waiting = [skill for skill in shelf.candidates if not skill.reviewed]
        lines = [f"{skill.name}  {skill.path}" for skill in waiting] or ["every skill has been reviewed"]
        output.emit({"unreviewed": [document(skill) for skill in waiting]}, "\n".join(lines))
        return
    waiting = [skill for skill in shelf.candidates if skill.name == name and not skill.reviewed]
    skill = waiting[0] if waiting and not revoke else _named(found.library, name)
    if revoke and skill.source is Source.PACKAGE:
        raise UserError(f"{name} comes with the program", hint=f"a skill of yours in {SKILLS}{name}/ goes before it")
    try:
        if revoke:
            withdraw(found.library, skill)
            output.emit({"name": name, "reviewed": False}, f"{name} is not trusted any more")
            return
        pin = found.review(skill, "skills review")
    except (BadFolder, OSError) as error:
        raise UserError(f"{name} could not be reviewed: {error}", hint="run the command again") from error
    output.emit(
        {**document(skill), "reviewed": True, "digest": pin.digest}, lambda: f"{whole(skill)}\n\nreviewed: {name}"
    )


@command.command()
@click.argument("source", metavar="PATH|GIT-URL")
@click.option("--skill", "names", multiple=True, metavar="NAME", help="Only this skill; may be repeated.")
@click.pass_obj
def install(output: Output, source: str, names: tuple[str, ...]) -> None:
    """Copy skills from a folder or a repository into the vault. Nothing is run, and nothing trusted yet."""
    app = build(output.vault())
    done = install_from(app.vault, source, names)
    lines = [problem_line(each) for each in done.problems]
    lines += [f"installed: {', '.join(done.names)}"]
    lines += [f"waiting: {done.queued}"] if done.queued else [f"commit {(done.commit or '')[:12]}"]
    lines += ["", *(f"look at it, then: vault-agent skills review {name}" for name in done.names)]
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
    """Show how often skills were used, and what came of it; with NAME also its last runs."""
    app = build(output.vault())
    found = _skills(app)
    shelf = found.library.shelf()
    gather(app, shelf.named)
    names = [_named(found.library, name).name] if name else sorted(shelf.named)
    counts = {each: found.history.stats(each) for each in names}
    last = list(folded(uses(app.vault, names[0])))[-_RUNS:] if name else []
    known: dict[str, object] = {"stats": [{"name": each, **as_document(count)} for each, count in counts.items()]}
    more = {"runs": [use_document(use) for use in last]} if name else {}
    output.emit(known | more, lambda: counted(counts, last))


@command.command()
@click.argument("name")
@click.argument("verdict", type=click.Choice(["helpful", "not-helpful", "not_helpful"]), metavar="helpful|not-helpful")
@click.option("--run", default="", metavar="ID", help="The run that is meant; else the last one without a word.")
@click.pass_obj
def feedback(output: Output, name: str, verdict: str, run: str) -> None:
    """Say whether a skill was helpful."""
    found = _skills(build(output.vault()))
    gone: list[str] = []
    found.say, found.tell = output.warn, gone.append
    skill = _named(found.library, name)
    opinion: Opinion = "helpful" if verdict == "helpful" else "not_helpful"
    use = found.person_says(skill.name, opinion, run)
    counts = found.history.stats(skill.name)
    known = {
        "name": skill.name,
        "feedback": opinion,
        "run": use.run,
        **as_document(counts),
        "put_aside": "; ".join(gone),
    }
    output.emit(known, "\n".join([rated(skill.name, opinion, counts), *gone]))


@command.command(short_help="List workflows that could become skills.")
@click.pass_obj
def suggest(output: Output) -> None:
    """List what was offered and waits for your answer, and what could be learned from your runs besides.

    Nothing is written; `skills learn` asks you about it in notes.
    """
    found = _skills(build(output.vault()))
    learner = learning(found, None)
    waiting = learner.offers.pending()
    more = learner.offers.suggest(found.library.shelf().skills)
    lines = [f"{each.name}  {' → '.join(each.tools)}  waits in {each.path}" for each in waiting]
    lines += [f"{each.name}  {' → '.join(each.tools)}  followed by {each.support} runs" for each in more]
    lines += ["", "yes or no: vault-agent skills learn --accept NAME, or --reject NAME"] if waiting else []
    lines += ["", "to be asked about them: vault-agent skills learn"] if more else []
    output.emit(
        {"waiting": [offer_document(each) for each in waiting], "more": [suggestion_document(each) for each in more]},
        "\n".join(lines) or "no workflow has come back often enough yet",
    )


@command.command(short_help="Learn skills from workflows that came back.")
@click.option("--accept", metavar="NAME", help="Say yes to the suggestion of this name.")
@click.option("--reject", metavar="NAME", help="Say no to it; it comes again only if it is done twice as often.")
@click.option("--because", default="", metavar="TEXT", help="With --reject: why.")
@click.pass_obj
def learn(output: Output, accept: str | None, reject: str | None, because: str) -> None:
    """Ask about workflows that came back, in a note in approvals/ each; or answer such a question here.

    A skill is written only after your yes, to skills/learned/, and is yours to edit from then on.
    """
    if accept and reject:
        raise click.UsageError("--accept and --reject answer differently; give one of them")
    if because and not reject:
        raise click.UsageError("--because belongs to --reject NAME")
    app = build(output.vault())
    if accept or reject:
        learner = learning(_skills(app), None)
        offer = learner.accept(accept) if accept else learner.reject(reject or "", because)
        said = {"accepted": f"learned: {offer.skill}", "rejected": f"{offer.name} is not learned"}
        output.emit(offer_document(offer), said.get(offer.status, f"nothing was learned: {offer.reason}"))
        return
    with closing(library(app)) as index, closing(runs(app, index)) as agent:
        learner = learning(agent.following.skills, agent.account)
        decided, waiting = learner.settle(), learner.offers.pending()
        made = learner.learn()
    lines = [f"{each.name} was {each.status}" for each in decided]
    lines += [f"{each.name}: {' → '.join(each.tools)}; answer in {each.path}" for each in made]
    lines += [f"{each.name} waits for your answer in {each.path}" for each in waiting]
    lines += ["or: vault-agent skills learn --accept NAME"] if made or waiting else []
    output.emit(
        {"offered": [offer_document(each) for each in made], "decided": [offer_document(each) for each in decided]},
        "\n".join(lines) or "no workflow has come back often enough yet",
    )


def _named(found: Library, name: str) -> Skill:
    shelf = found.shelf()
    skill = shelf.get(name)
    if skill is not None:
        return skill
    aside = f"{DEPRECATED}{name}"
    learned = next(place for place in found.places if place.source is Source.LEARNED)
    if not bad_name(name) and (learned.root / aside / FILE).is_file():
        raise UserError(f"the skill {name} was put aside", hint=f"vault-agent log {aside} says when and why")
    broken = next((each for each in shelf.problems if f"/{name}/" in each.path), None)
    if broken is not None:
        raise UserError(f"the skill {name} cannot be used: {broken.reason}", hint=f"{broken.path}, line {broken.line}")
    near = ", ".join(get_close_matches(name, shelf.named, cutoff=0.5) or [each for each in shelf.named if name in each])
    raise UserError(f"there is no skill {name}", hint=f"vault-agent skills list{f'; near it: {near}' if near else ''}")


def _skills(app: App) -> Skills:
    """The vault's skills; the model for meaning is only loaded for skills that need it."""
    loaded: list[Embedder | None] = []
    exact: list[Callable[[str], int]] = []

    def embedder() -> Embedder | None:
        if not loaded:
            loaded.append(library(app).chosen.embedder)
        return loaded[0]

    def count(text: str) -> int:
        if not exact:
            found = embedder()
            exact.append(counter(found) if found is not None else estimate)
        return exact[0](text)

    return skills(app, embedder, count)
