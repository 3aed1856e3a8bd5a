"""What people and their programs do to one of three clones, one deed a function; `convergence` has their weights."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.remotes import git_as
from tests.trust.clones import PLAIN, Clone, Company, marks
from tests.vaults import FAST

POOL = ("ideas.md", "trips/oslo.md", "list.md", "trips/packing.md", "people/eve.md")
"""Names that several people give to new notes."""
DAILY = "daily/2026-11-21.md"
_LATER = replace(FAST, human_commits=False)


Deed = Callable[[Company, Clone, Random], None]


def _some_note(clone: Clone, rng: Random) -> str:
    notes = clone.notes()
    return rng.choice(notes) if notes else ""


def _body(lines: list[str]) -> int:
    """The number of the first line below the header."""
    if not lines or lines[0] != "---\n" or "---\n" not in lines[1:]:
        return 0
    return lines.index("---\n", 1) + 1


def edit(company: Company, clone: Clone, rng: Random) -> None:
    """A line in the middle or at the end, or another text for a line."""
    path = _some_note(clone, rng)
    if not path:
        return
    lines = clone.read(path).splitlines(keepends=True)
    start, mark = _body(lines), company.mark()
    kind = rng.choice(["insert", "end", "replace"])
    plain = [n for n in range(start, len(lines)) if marks(lines[n]) and "[[" not in lines[n]]
    if kind == "replace" and plain:
        lines[rng.choice(plain)] = f"Rather {mark}.\n"
    elif kind == "insert" and len(lines) > start:
        lines.insert(rng.randrange(start, len(lines)), f"Between, {mark}.\n\n")
    else:
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        lines.append(f"\nAt the end {mark}.\n")
    company.say(f"{clone.name} edits {path}: {kind} {mark}")
    company.save(clone, path, "".join(lines))


def header(company: Company, clone: Clone, rng: Random) -> None:
    """Another value for a key in the header, or a new key."""
    path = _some_note(clone, rng)
    lines = clone.read(path).splitlines(keepends=True) if path else []
    end = _body(lines)
    if not end:
        return
    mark = company.mark()
    key = rng.choice(["mood", f"k{company.count}"])
    at = next((n for n in range(1, end) if lines[n].startswith(f"{key}:")), None)
    if at is not None:
        lines[at] = f"{key}: {mark}\n"
    else:
        lines.insert(end - 1, f"{key}: {mark}\n")
    company.say(f"{clone.name} sets {key} of {path} to {mark}")
    company.save(clone, path, "".join(lines))


def tick(company: Company, clone: Clone, rng: Random) -> None:
    """A task is done."""
    path = _some_note(clone, rng)
    lines = clone.read(path).splitlines(keepends=True) if path else []
    tasks = [n for n, line in enumerate(lines) if line.startswith("- [ ] ")]
    if tasks:
        number = rng.choice(tasks)
        lines[number] = lines[number].replace("[ ]", "[x]")
        company.ticked |= marks(lines[number])
        company.say(f"{clone.name} ticks {lines[number].strip()} in {path}")
        company.save(clone, path, "".join(lines))


def log(company: Company, clone: Clone, rng: Random) -> None:
    """A line in the day's log."""
    text = clone.read(DAILY) if (clone.root / DAILY).exists() else "# 2026-11-21\n\n"
    mark = company.mark()
    company.say(f"{clone.name} logs {mark}")
    company.save(clone, DAILY, f"{text}- {clone.clock.now():%H:%M} {mark}\n")


def create(company: Company, clone: Clone, rng: Random) -> None:
    """A new note, often with a name that others use, too."""
    number = company.count + 1
    path = rng.choice([*POOL, f"notes/{clone.name.lower()}-{number}.md"])
    if path.casefold() in {each.casefold() for each in clone.notes()}:
        return
    head = f"---\nid: id-{number}\nmood: {company.mark()}\n---\n" if rng.random() < 0.5 else ""
    link = f"See [[{rng.choice(['plan', 'ideas', 'list'])}]] {company.mark()}.\n"
    company.say(f"{clone.name} creates {path}")
    company.save(clone, path, f"{head}# Title\n\n- [ ] task {company.mark()}\n\n{link}")


def delete(company: Company, clone: Clone, rng: Random) -> None:
    """A note goes."""
    path = _some_note(clone, rng)
    if path and len(clone.notes()) > 4:
        company.say(f"{clone.name} deletes {path}")
        company.save(clone, path, None)


def rename(company: Company, clone: Clone, rng: Random) -> None:
    """A note gets another name, another folder, or only another case."""
    path = _some_note(clone, rng)
    if not path:
        return
    folder, slash, name = path.rpartition("/")
    to = {
        "name": f"{folder}{slash}renamed-{company.count}-{name}"[-60:].lstrip("/"),
        "folder": f"{rng.choice(['trips', 'people', 'work'])}/{name}",
        "case": f"{folder}{slash}{name[0].swapcase()}{name[1:]}",
    }[rng.choice(["name", "folder", "case"])]
    others = {each.casefold() for each in clone.notes()} - {path.casefold()}
    if to != path and to.casefold() not in others:
        company.count += 1
        company.say(f"{clone.name} renames {path} to {to}")
        (clone.root / to).parent.mkdir(parents=True, exist_ok=True)
        (clone.root / path).rename(clone.root / to)


def move_folder(company: Company, clone: Clone, rng: Random) -> None:
    """A folder gets another name."""
    folders = sorted({path.rpartition("/")[0] for path in clone.notes()} - {"", "daily"})
    if folders:
        folder = rng.choice(folders)
        company.count += 1
        to = rng.choice([f"moved-{company.count}", f"away/{folder.rpartition('/')[2]}"])
        if not (clone.root / to).exists() and not to.startswith(f"{folder}/") and not folder.startswith(f"{to}/"):
            company.say(f"{clone.name} moves {folder}/ to {to}/")
            (clone.root / to).parent.mkdir(parents=True, exist_ok=True)
            (clone.root / folder).rename(clone.root / to)


def sync(company: Company, clone: Clone, rng: Random) -> None:
    """A round, perhaps with something that happens in the middle of it."""
    at, what = rng.choice(["", "", "fetch", "merge", "write", "push"]), rng.choice([save_here, commit_here, sync_there])
    done: list[str] = []

    def step(name: str) -> None:
        if name == at and not done:
            done.append(name)
            company.say(f"{clone.name}, before {name}: {what.__name__}")
            what(company, clone, rng)

    options = _LATER if rng.random() < 0.2 else None
    company.say(f"{clone.name} syncs{', its notes uncommitted' if options else ''}")
    report = company.sync(clone, step=step, options=options)
    if report.wait is not None and rng.random() < 0.5:
        company.answered(clone)


def save_here(company: Company, clone: Clone, rng: Random) -> None:
    """The person types on."""
    if clone.middle not in {"merge", "rebase"}:
        rng.choice([edit, log, create])(company, clone, rng)


def commit_here(company: Company, clone: Clone, rng: Random) -> None:
    """The person commits by hand."""
    if clone.middle not in {"merge", "rebase"}:
        clone.free()
        clone.git("add", "-A")
        clone.tries("commit", "-q", "-m", "By hand")
        clone.middle = ""


def sync_there(company: Company, clone: Clone, rng: Random) -> None:
    """Another machine is quicker."""
    others = [each for each in company.clones if each is not clone and not each.offline]
    if not others:
        return
    other = rng.choice(others)
    if other.name == PLAIN:
        _backup(company, other)
    elif not company.remote.with_suffix(".away").exists():
        company.sync(other)


def go_offline(company: Company, clone: Clone, rng: Random) -> None:
    """The next syncs do not reach the remote."""
    clone.offline = rng.randint(1, 2)
    company.say(f"{clone.name} goes offline")


def stage(company: Company, clone: Clone, rng: Random) -> None:
    """The person stages a file and goes on writing in it, or one half of a move; or ends that."""
    clone.free()
    if clone.middle == "staged":
        company.say(f"{clone.name} commits or takes back what is staged")
        if rng.random() < 0.5:
            clone.tries("commit", "-q", "-m", "The staged part")
        else:
            clone.git("reset", "-q")
        clone.middle = ""
    elif not clone.middle and (path := _some_note(clone, rng)) and clone.tries("cat-file", "-e", f"HEAD:{path}"):
        if rng.random() < 0.5:
            _stage_half(company, clone, path, rng)
            return
        company.save(clone, path, clone.read(path) + f"\nStaged {company.mark()}.\n")
        clone.git("add", "--", path)
        clone.middle = "staged"
        company.say(f"{clone.name} stages {path}")
        if rng.random() < 0.5:
            company.save(clone, path, clone.read(path) + f"\nNot staged {company.mark()}.\n")


def _stage_half(company: Company, clone: Clone, path: str, rng: Random) -> None:
    """A note is moved, and only its new place, or only that it is gone from the old one, is staged."""
    company.count += 1
    to = f"trips/half-{company.count}.md"
    (clone.root / to).parent.mkdir(exist_ok=True)
    (clone.root / path).rename(clone.root / to)
    half = rng.choice([["add", "--", to], ["rm", "-q", "--cached", "--", path]])
    clone.git(*half)
    clone.middle = "staged"
    company.say(f"{clone.name} moves {path} to {to} and stages half of it: {half[0]}")


def pull(company: Company, clone: Clone, rng: Random) -> None:
    """The person merges or rebases by hand; what does not fit is given up at once, or later.

    Not by `git pull --rebase`: it leaves out commits that the remote once had and has no more (its fork point).
    """
    clone.free()
    if clone.middle in {"merge", "rebase"}:
        company.say(f"{clone.name} gives the {clone.middle} up")
        clone.git(clone.middle, "--abort")
        clone.middle = ""
        return
    commit_here(company, clone, rng)
    how = rng.choice(["merge", "rebase"])
    company.say(f"{clone.name} pulls by hand ({how})")
    clone.tries("fetch", "-q", "origin")
    options = ["-q", "--no-edit"] if how == "merge" else ["-q", "--no-fork-point"]
    if not clone.tries(how, *options, "origin/main"):
        busy = (clone.root / ".git/MERGE_HEAD").exists() or (clone.root / ".git/rebase-merge").exists()
        if busy and rng.random() < 0.5:
            clone.middle = how
        elif busy:
            clone.git(how, "--abort")


def restore(company: Company, clone: Clone, rng: Random) -> None:
    """The server comes back from an older backup."""
    company.say("The remote goes back")
    older = git_as(company.remote, "Anna", "rev-list", "--first-parent", "--max-count=4", "main").split()
    git_as(company.remote, "Anna", "update-ref", "refs/heads/main", rng.choice(older))


def rewrite(company: Company, clone: Clone, rng: Random) -> None:
    """The person makes one commit of the last ones, perhaps without a line, and pushes it with force."""
    if clone.middle or clone.offline:
        return
    commit_here(company, clone, rng)
    older = clone.git("rev-list", "--first-parent", "--max-count=4", "HEAD").split()
    if len(older) < 2:
        return
    clone.git("reset", "-q", "--soft", rng.choice(older[1:]))
    if rng.random() < 0.4:
        edit(company, clone, rng)
    clone.git("add", "-A")
    clone.tries("commit", "-q", "-m", "All in one")
    company.say(f"{clone.name} rewrites the history and pushes it with force")
    company.rewritten()
    clone.git("push", "-q", "--force", "origin", "HEAD:main")


def backup(company: Company, clone: Clone, rng: Random) -> None:
    """What obsidian-git does; where git alone cannot merge, our sync takes over a while later."""
    plain = next(each for each in company.clones if each.name == PLAIN)
    if plain.is_stuck:
        company.say(f"{plain.name} is stuck, and syncs")
        plain.is_stuck = company.answered(plain).end != "synced"
    else:
        _backup(company, plain)


def _backup(company: Company, clone: Clone) -> None:
    if clone.middle in {"merge", "rebase"} or clone.is_stuck:
        return
    clone.free()
    company.say(f"{clone.name} backs up")
    clone.git("add", "-A")
    clone.tries("commit", "-q", "-m", "vault backup")
    clone.middle = ""
    if clone.tries("pull", "-q", "--no-rebase", "--no-edit", "origin", "main"):
        clone.tries("push", "-q", "origin", "HEAD:main")
    else:
        clone.is_stuck = True
        clone.tries("merge", "--abort")
