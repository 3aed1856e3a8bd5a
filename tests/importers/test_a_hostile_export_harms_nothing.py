"""Archives, JSON and XML that are broken, or made to harm: a clear error or a named exception, and nothing half
written, nothing outside the vault."""

import json
import os
import stat
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from agent.errors import UserError
from agent.importers import export as export_module
from agent.importers import json_stream
from agent.importers import plan as plan_module
from agent.importers.export import open_export
from agent.importers.formats import FORMATS
from agent.importers.html_text import markdown_of
from agent.importers.values import LeftReason
from tests.importers.exports import archive, chatgpt_talk, evernote, khoj, logseq, take
from tests.vaults import git, make_vault, write

TALK = json.dumps([chatgpt_talk("c1", "Tea", "Which tea?", "Green.")])


def cut_json(folder: Path) -> Path:
    many = json.dumps([chatgpt_talk(f"c{number}", "Tea", "Which tea?", "Green.") for number in range(400)])
    write(folder / "conversations.json", many[:-40])
    return folder / "conversations.json"


def wrong_in_the_middle(folder: Path) -> Path:
    write(folder / "conversations.json", TALK[:-1] + ", {'single': 'quotes'}]")
    return folder / "conversations.json"


def cut_archive(folder: Path) -> Path:
    made = archive(folder / "chatgpt.zip", {"conversations.json": TALK})
    data = bytearray(made.read_bytes())
    data[60:90] = b"\0" * 30
    made.write_bytes(data)
    return made


def cut_enex(folder: Path) -> Path:
    return evernote(folder, "<note><title>half")


def nested(folder: Path) -> Path:
    write(folder / "conversations.json", TALK[:-1] + ', {"mapping": ' + "[" * 200_000)
    return folder / "conversations.json"


def broken_picture(folder: Path) -> Path:
    place = "iCloud Notes/Notes/Bike"
    made = archive(folder / "apple.zip", {f"{place}/Bike.txt": "x\n", f"{place}/photo.png": os.urandom(500)})
    data = bytearray(made.read_bytes())
    data[-700:-600] = b"\0" * 100
    made.write_bytes(data)
    return made


def locked(folder: Path) -> Path:
    made = archive(folder / "chatgpt.zip", {"conversations.json": TALK})
    data = bytearray(made.read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    made.write_bytes(data)
    return made


def no_export(folder: Path) -> Path:
    write(folder / "photo.zip", b"PK\3\4 not really")
    return folder / "photo.zip"


BROKEN = (cut_json, wrong_in_the_middle, cut_archive, cut_enex, broken_picture, nested, locked, no_export)


@pytest.mark.parametrize("make", BROKEN)
def test_what_is_broken_gets_an_error_and_nothing_is_written(make: Callable[[Path], Path], tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"tea.md": "mine\n"})
    before = git(vault.place.root, "rev-parse", "HEAD")
    with pytest.raises(UserError) as caught:
        take(vault, make(tmp_path / "export"))
    assert caught.value.hint and git(vault.place.root, "rev-parse", "HEAD") == before
    assert [each.name for each in vault.place.root.rglob("*.md")] == ["tea.md"]


def test_a_value_of_any_size_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "LARGEST_VALUE", 1 << 20)
    long = TALK[:-1] + ', {"mapping": "' + "a" * (3 << 20) + '"}]'
    with pytest.raises(UserError, match="one value"):
        take(make_vault(tmp_path, {}), archive(tmp_path / "chatgpt.zip", {"conversations.json": long}))


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_module, "SMALL", 1 << 20)
    made = archive(tmp_path / "chatgpt.zip", {"conversations.json": b" " * (50 << 20)})
    with pytest.raises(UserError, match="far more"), open_export(made):
        pass
    inner = archive(tmp_path / "inner.zip", {"a.md": b" " * (50 << 20)})
    with (
        pytest.raises(UserError, match="far more"),
        open_export(archive(tmp_path / "o.zip", {"i.zip": inner.read_bytes()})),
    ):
        pass


def test_names_that_lead_out_and_links_are_left_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    files: dict[str, str | bytes] = {
        "logseq/config.edn": "{}",
        "pages/good.md": "good\n",
        "pages/../../../outside.md": "bad\n",
        "/pages/absolute.md": "bad\n",
        "C:/pages/drive.md": "bad\n",
    }
    made = archive(tmp_path / "graph.zip", files)
    with zipfile.ZipFile(made, "a") as more:
        link = zipfile.ZipInfo("pages/link.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        more.writestr(link, "/etc/passwd")
    vault = make_vault(tmp_path, {})
    plan, done = take(vault, made)
    assert {each.why for each in plan.left} == {LeftReason.NAME, LeftReason.LINK} and plan.left_count == 4
    assert done.paths == ("Imported/pages/good.md",) and not outside.exists()


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    place = logseq(tmp_path)
    write(tmp_path / "private.md", "secret plans\n")
    (place / "pages" / "link.md").symlink_to(tmp_path / "private.md")
    (place / "pages" / "folder").symlink_to(tmp_path)
    vault = make_vault(tmp_path, {})
    plan, _ = take(vault, place)
    assert [each.why for each in plan.left] == [LeftReason.LINK]
    assert all(b"secret plans" not in each.read_bytes() for each in vault.place.root.rglob("*.md"))


def test_names_in_another_encoding_are_read(tmp_path: Path) -> None:
    made = tmp_path / "graph.zip"
    archive(made, {"logseq/config.edn": "{}", "pages/" + "X" * 4 + ".md": "茶\n"})
    made.write_bytes(made.read_bytes().replace(b"X" * 4, "茶叶".encode("gbk")))
    vault = make_vault(tmp_path, {})
    assert take(vault, made)[1].paths == ("Imported/pages/茶叶.md",)


TITLES = (
    "../../etc/passwd",
    "AGENTS",
    "CLAUDE.local",
    ".obsidian/x",
    "a:b",
    "con\0trol\x1b[8m",
    "README",
    "",
    "a" * 400,
)


@pytest.mark.parametrize("title", (*TITLES, "a" * 400, "🍵" * 90))
def test_a_title_names_nothing_but_a_note(title: str, tmp_path: Path) -> None:
    write(tmp_path / "conversations.json", json.dumps([chatgpt_talk("c1", title, "Which tea?", "Green.")]))
    vault = make_vault(tmp_path, {})
    (path,) = take(vault, tmp_path / "conversations.json")[1].paths
    assert path.startswith("Imported/2023/") and (vault.place.root / path).is_file() and path.count("/") == 2


def test_a_format_that_does_not_fit_writes_nothing_of_it(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {})
    for format in FORMATS:
        with suppress(UserError):
            _, done = take(vault, khoj(tmp_path), format.name)
            assert format.name == "khoj" or not [each for each in done.paths if each.endswith(".md")], format.name


def test_an_entity_of_xml_reads_no_file(tmp_path: Path) -> None:
    write(tmp_path / "private.txt", "secret plans")
    entity = f'<!DOCTYPE en-export [<!ENTITY x SYSTEM "file://{tmp_path}/private.txt"><!ENTITY y "{"lol" * 99}">]>'
    note = "<note><title>&x;</title><content>&x;&y;</content><created>20240105T093000Z</created></note>"
    write(tmp_path / "a.enex", f'<?xml version="1.0"?>{entity}<en-export>{note}</en-export>')
    vault = make_vault(tmp_path, {})
    take(vault, tmp_path / "a.enex")
    assert all(b"secret plans" not in each.read_bytes() for each in vault.place.root.rglob("*.md"))


def test_a_day_that_no_calendar_has_and_a_cell_of_any_length_stop_nothing(tmp_path: Path) -> None:
    head = "---\ntags: [copilot-conversation]\n---\n"
    write(tmp_path / "chats" / "a.md", f"{head}**user**: tea?\n[Timestamp: 2024/13/41 10:00:00]\n")
    assert len(take(make_vault(tmp_path / "1", {}), tmp_path / "chats")[1].paths) == 1
    files: dict[str, str | bytes] = {"logseq/config.edn": "{}", "pages/a.md": "---\ndate: 0001-01-01\n---\nx\n"}
    assert len(take(make_vault(tmp_path / "2", {}), archive(tmp_path / "g.zip", files))[1].paths) == 1
    table = {f"Plants {'a' * 32}.csv": "Name,Note\nfern," + "green " * 50_000}
    (note,) = (
        each
        for each in take(make_vault(tmp_path / "3", {}), archive(tmp_path / "n.zip", table))[1].paths
        if each.endswith(".md")
    )
    assert note


def test_tables_in_tables_are_told_once(tmp_path: Path) -> None:
    inside = "words"
    for _ in range(12):
        inside = f"<table><tr><td>{inside}</td></tr></table>"
    assert markdown_of(inside).count("words") == 1


def test_a_file_that_is_too_large_to_be_read_at_once_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_module, "LARGEST_TEXT", 10)
    place = "iCloud Notes/Notes"
    made = archive(tmp_path / "apple.zip", {f"{place}/a.png": b"x" * 11, f"{place}/a.txt": "tea\n"})
    plan, done = take(make_vault(tmp_path, {}), made)
    assert [each.why for each in plan.left] == [LeftReason.SIZE] and len(done.paths) == 1


def test_a_folder_that_may_not_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = logseq(tmp_path)

    def refused(path: str) -> object:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(UserError, match="cannot be read"), open_export(place):
        pass
