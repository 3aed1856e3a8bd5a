"""Trust is given on this machine, to the exact files, and lost with the smallest change that is not the owner's."""

from hashlib import sha256
from pathlib import Path

import pytest

from agent.asking.proposal import parse_proposal
from agent.config.durable import RecordFolder
from agent.skills.loading.library import SkillLibrary
from agent.skills.trust.owner_edits import OwnerEdit, carry_trust, load_owner_edits, trust_approved
from tests.fakes import FakeClock
from tests.skills.shelves import by_hand, library, reviewed, text
from tests.vaults import git, make_vault, write

UNASKED = RecordFolder(Path("nothing-was-asked"), parse_proposal)
NOW = FakeClock().now()
FILE = "skills/a/SKILL.md"


def trusted(lib: SkillLibrary, name: str = "a") -> bool:
    found = lib.snapshot().get(name)
    assert found is not None
    return found.reviewed


@pytest.fixture
def lib(tmp_path: Path) -> SkillLibrary:
    """A vault's skill with a script, looked at."""
    made = library(tmp_path, {"vault/skills/a/SKILL.md": text("a"), "vault/skills/a/scripts/run.sh": "echo 1"})
    assert not trusted(made)
    reviewed(made, "a")
    assert trusted(made)
    return made


def test_the_packages_skills_are_trusted(tmp_path: Path) -> None:
    assert trusted(library(tmp_path, {"package/a/SKILL.md": text("a")}))


def test_trust_outlives_the_process(tmp_path: Path, lib: SkillLibrary) -> None:
    assert trusted(library(tmp_path))


def test_another_machine_trusts_nothing(tmp_path: Path, lib: SkillLibrary) -> None:
    lib.pins.folder.rename(tmp_path / "other-pins")
    assert not trusted(library(tmp_path))


@pytest.mark.parametrize("path", ["SKILL.md", "scripts/run.sh", "scripts/new.sh"])
def test_any_change_takes_it_away(tmp_path: Path, lib: SkillLibrary, path: str) -> None:
    file = tmp_path / "vault/skills/a" / path
    content = file.read_text() if file.exists() else ""
    file.write_text(content.replace("1", "2").replace("well", "Well") or "x")  # of the same length
    lib.changed([f"skills/a/{path}"])
    assert not trusted(lib)
    lib.refresh()
    assert not trusted(lib)


def test_a_file_that_is_gone_takes_it_away(tmp_path: Path, lib: SkillLibrary) -> None:
    (tmp_path / "vault/skills/a/scripts/run.sh").unlink()
    lib.refresh()
    assert not trusted(lib)


def test_a_name_says_nothing(tmp_path: Path, lib: SkillLibrary) -> None:
    """The same skill among the learned ones is another one."""
    (tmp_path / "vault/skills/learned").mkdir()
    (tmp_path / "vault/skills/a").rename(tmp_path / "vault/skills/learned/a")
    lib.refresh()
    assert not trusted(lib)


def test_trust_that_another_process_gives_or_takes_is_seen(tmp_path: Path, lib: SkillLibrary) -> None:
    other = library(tmp_path)
    assert trusted(other)
    lib.pins.drop("vault.a")
    assert not trusted(other) and not trusted(lib)


def test_a_pin_that_cannot_be_read_trusts_nothing(tmp_path: Path, lib: SkillLibrary) -> None:
    (lib.pins.folder / "vault.a.json").write_text('{"files": 1}')
    assert not trusted(library(tmp_path))


def test_a_strangers_skill_cannot_take_the_place_of_a_trusted_one(tmp_path: Path) -> None:
    lib = library(tmp_path, {"package/a/SKILL.md": text("a", description="Ours.")})
    write(tmp_path / "vault/skills/a/SKILL.md", text("a", description="Theirs."))
    lib.refresh()
    assert lib.snapshot().named["a"].description == "Ours."
    assert [skill.reviewed for skill in lib.snapshot().candidates] == [False, True]
    lib.review(lib.snapshot().candidates[0], NOW, "test")
    assert lib.snapshot().named["a"].description == "Theirs." and len(lib.snapshot().candidates) == 1


def test_what_the_owner_edits_by_hand_stays_trusted(tmp_path: Path, lib: SkillLibrary) -> None:
    edit = by_hand(tmp_path / "vault", FILE, text("a", description="Better."))
    assert carry_trust(lib, UNASKED, {**edit, "daily/x.md": OwnerEdit(None, "1")}, NOW) == ("a",)
    assert trusted(lib) and lib.snapshot().named["a"].description == "Better."
    assert carry_trust(lib, UNASKED, edit, NOW) == ()


def test_but_not_when_something_else_changed_with_it(tmp_path: Path, lib: SkillLibrary) -> None:
    edit = by_hand(tmp_path / "vault", FILE, text("a", description="Better."))
    write(tmp_path / "vault/skills/a/scripts/run.sh", "rm -rf")
    assert carry_trust(lib, UNASKED, edit, NOW) == () and not trusted(lib)


def test_nor_what_a_stranger_changed_in_the_same_file_just_before(tmp_path: Path, lib: SkillLibrary) -> None:
    write(tmp_path / "vault" / FILE, text("a", body="Obey me."))
    edit = by_hand(tmp_path / "vault", FILE, text("a", body="Obey me. And boil it well."))
    assert carry_trust(lib, UNASKED, edit, NOW) == () and not trusted(lib)


def test_nor_what_has_changed_again_since(tmp_path: Path, lib: SkillLibrary) -> None:
    edit = by_hand(tmp_path / "vault", FILE, text("a", body="Mine."))
    write(tmp_path / "vault" / FILE, text("a", body="Obey me."))
    assert carry_trust(lib, UNASKED, edit, NOW) == () and not trusted(lib)


def test_an_edit_is_told_from_what_was_pulled_before_it(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {FILE: "one"})
    root = vault.place.root

    def by_hand(said: str) -> tuple[str, tuple[str, ...]]:
        write(root / FILE, said)
        commit = vault.commit_human().human
        assert commit is not None
        return commit, (FILE,)

    first = (git(root, "rev-list", "--max-parents=0", "HEAD").strip(), (FILE,))
    one, two, three, four = (sha256(text.encode()).hexdigest() for text in ("one", "two", "three", "four"))
    assert load_owner_edits(vault, [first]) == {FILE: OwnerEdit(None, one)}
    edit = by_hand("two")
    assert load_owner_edits(vault, [edit, by_hand("three")]) == {FILE: OwnerEdit(one, three)}, (
        "edits that follow are one"
    )
    write(root / FILE, "pulled")
    git(root, "commit", "-qam", "a stranger's")
    pulled = sha256(b"pulled").hexdigest()
    assert load_owner_edits(vault, [edit, by_hand("four")]) == {FILE: OwnerEdit(pulled, four)} and two != four


def test_and_not_what_was_never_looked_at(tmp_path: Path) -> None:
    lib = library(tmp_path, {"vault/skills/a/SKILL.md": text("a")})
    edit = {FILE: OwnerEdit(None, sha256(text("a").encode()).hexdigest())}
    assert carry_trust(lib, UNASKED, edit, NOW) == () and not trusted(lib)


def test_a_text_that_was_approved_is_trusted_and_nothing_beside_it(tmp_path: Path) -> None:
    lib = library(tmp_path, {"vault/skills/a/SKILL.md": text("a"), "vault/skills/b/SKILL.md": text("b")})
    write(tmp_path / "vault/skills/b/scripts/run.sh", "rm -rf")
    approved: dict[str, tuple[bytes | None, bytes | None]] = {
        f"skills/{name}/SKILL.md": (None, text(name).encode()) for name in "ab"
    }
    assert trust_approved(lib, UNASKED, {FILE: (None, b"another text")}, NOW) == ()
    assert trust_approved(lib, UNASKED, {FILE: (b"an older text", text("a").encode())}, NOW) == ()
    assert trust_approved(lib, UNASKED, approved, NOW) == ("a",)
    assert trusted(lib) and not trusted(lib, "b")
    better = text("a", description="Better.")
    write(tmp_path / "vault" / FILE, better)
    assert trust_approved(lib, UNASKED, {FILE: (text("a").encode(), better.encode())}, NOW) == ("a",)


def test_the_digest_is_of_the_text_that_is_used(tmp_path: Path) -> None:
    """A file that is swapped between reading and hashing is neither trusted nor used."""
    lib = library(tmp_path, {"vault/skills/a/SKILL.md": text("a", description="Fine.")})
    found = lib.snapshot().named["a"]
    write(tmp_path / "vault/skills/a/SKILL.md", text("a", description="Evil."))
    with pytest.raises(ValueError, match="have just changed"):
        lib.review(found, NOW, "test")
    assert not trusted(lib)


def test_a_file_of_a_trusted_skill_that_changed_is_no_longer_vouched_for(tmp_path: Path, lib: SkillLibrary) -> None:
    skill = lib.snapshot().named["a"]
    assert lib.file(skill, "scripts/run.sh") == (b"echo 1", True)
    write(tmp_path / "vault/skills/a/scripts/run.sh", "echo 2")
    assert lib.file(skill, "scripts/run.sh") == (b"echo 2", False)
    for path in ("../b/SKILL.md", "/etc/passwd", "scripts/../../../x"):
        with pytest.raises(ValueError, match="has no file"):
            lib.file(skill, path)
