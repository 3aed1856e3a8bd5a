"""Skills as files and as values, for tests."""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from agent.skills.loading.files import ReviewPins, skill_locations
from agent.skills.loading.library import SkillLibrary, SkillSnapshot
from agent.skills.reading.skill import Skill, SkillSource
from agent.skills.reading.skill_file import SkillFolder, parse_skill
from agent.skills.trust.owner_edits import OwnerEdit
from tests.fakes import FakeClock
from tests.vaults import write


def text(name: str, header: str = "", body: str = "Do it well.", description: str = "Does things.") -> str:
    """A `SKILL.md`; `header` are more lines of its header."""
    more = f"{header.strip()}\n" if header.strip() else ""
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n{body}\n"


def triggers(pattern: str, *, more: str = "") -> str:
    """The header lines of a skill that one pattern triggers."""
    return f'triggers:\n  intent_patterns:\n    - "{pattern}"\n{more}'


def library(folder: Path, skills: Mapping[str, str | bytes] | None = None) -> SkillLibrary:
    """A library over `folder/vault` and `folder/package`, with these files (paths in `folder`) written first."""
    for path, content in (skills or {}).items():
        write(folder / path, content)
    for name in ("vault", "package"):
        (folder / name).mkdir(exist_ok=True)
    return SkillLibrary(skill_locations(folder / "vault", folder / "package"), ReviewPins(folder / "pins"))


def skill(
    name: str, header: str = "", body: str = "Do it well.", *, source: SkillSource = SkillSource.PACKAGE
) -> Skill:
    """A skill as a value; one of the package, which is trusted."""
    read = parse_skill(text(name, header, body).encode(), SkillFolder(name, source, f"{source}/{name}/SKILL.md"))
    assert read.skill is not None, read.problems
    return replace(read.skill, reviewed=source is SkillSource.PACKAGE)


def shelf(*skills: Skill) -> SkillSnapshot:
    """A shelf with these skills."""
    return SkillSnapshot(skills, (), {each.name: each for each in reversed(skills)})


def words(count_of: str) -> int:
    """A count of tokens that anybody can do in their head."""
    return len(count_of.split())


def reviewed(lib: SkillLibrary, *names: str) -> None:
    """Look at these skills."""
    for name in names:
        lib.review(next(each for each in lib.snapshot().skills if each.name == name), FakeClock().now(), "test")


def by_hand(root: Path, path: str, said: str) -> dict[str, OwnerEdit]:
    """Write a file that is there, as its owner does; what a commit of it would tell."""
    before, after = (root / path).read_bytes(), said.encode()
    write(root / path, said)
    return {path: OwnerEdit(sha256(before).hexdigest(), sha256(after).hexdigest())}
