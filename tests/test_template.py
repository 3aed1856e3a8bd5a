"""What `init` lays into a vault: readable notes, links that lead somewhere, views that Obsidian can show."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
import yaml

from agent.config.settings import TRAVELS
from agent.schedule.job import Job, JobProblem
from agent.schedule.job_header import parse_job
from agent.vault.folders import AT_ROOT, AgentFolder
from agent.vault.template import laid_first, read_template

ROOT = Path(__file__).parent.parent
TEMPLATE = ROOT / "vault_template"
OBSIDIAN_HELP = ROOT.parent / "shared/data/vaults/obsidian-help/en"
LANGUAGES = ("en", "zh")

FIRST = {"AGENT.md", "MEMORY.md", "(welcome)", "vault-agent.yaml"}
"""What is laid at first, beside the empty folder for requests."""

# The names that Obsidian's help lists for Bases; `test_known_names_are_in_obsidians_help` compares them with it.
GLOBAL_FUNCTIONS = frozenset({"if", "link", "now", "today"})
METHODS = frozenset({"hasProperty", "inFolder", "toString"})
FILE_PROPERTIES = frozenset({"name", "basename", "ext", "mtime"})
TOP_KEYS = frozenset({"filters", "formulas", "properties", "summaries", "views"})
# `sort` is what Obsidian itself writes for a view's row order; its help describes it as a button only.
VIEW_KEYS = frozenset({"type", "name", "filters", "groupBy", "order", "sort", "limit"})
VIEW_TYPES = frozenset({"table", "cards", "list"})
KEYS = frozenset(
    {"channel", "completed_at", "conflicts", "created", "created_at", "due", "error", "evidence", "expires"}
    | {"keywords", "kind", "on", "priority", "result", "scope", "source", "status", "target_file", "task"}
    | {"task_type", "timezone", "title", "type", "when"}
)
"""The keys of the agent's notes that the tables show."""

Plain: TypeAlias = "None | bool | int | float | str | list[Plain] | dict[str, Plain]"


def laid_out(language: str) -> dict[str, Path]:
    """The vault that a language gives: path in the vault → file in the template."""
    files: dict[str, Path] = {}
    for part in ("common", language):
        for source in sorted((TEMPLATE / part).rglob("*")):
            if source.is_file():
                parts = source.relative_to(TEMPLATE / part).parts
                path = "/".join("." + p.removeprefix("dot-") if p.startswith("dot-") else p for p in parts)
                assert path not in files, f"{path} is in common and in {language}"
                files[path] = source
    return files


def neutral(path: str) -> str:
    """A path with the parts that differ between languages evened out."""
    if path in {"Welcome.md", "欢迎.md"}:
        return "(welcome)"
    return path


FILES = [pytest.param(lang, path, id=f"{lang}:{path}") for lang in LANGUAGES for path in laid_out(lang)]
NOTES = [p for p in FILES if str(p.values[1]).endswith(".md")]
BASES = [p for p in FILES if str(p.values[1]).endswith(".base")]


def read(language: str, path: str) -> str:
    return laid_out(language)[path].read_text("utf-8")


def base_of(language: str, path: str) -> dict[str, Plain]:
    base = yaml.safe_load(read(language, path))
    assert isinstance(base, dict)
    return base


def views_of(base: dict[str, Plain]) -> list[dict[str, Plain]]:
    views = base["views"]
    assert isinstance(views, list)
    return [view for view in views if isinstance(view, dict)]


def header(text: str) -> dict[str, Plain]:
    assert text.startswith("---\n")
    found = yaml.safe_load(text.split("---\n")[1])
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_few_notes_are_laid_at_first(language: str) -> None:
    files = read_template(TEMPLATE, language)
    assert {neutral(path) for path in laid_first(files, AT_ROOT)} == FIRST
    below = {neutral(path.removeprefix("Agent/")) for path in laid_first(files, AgentFolder("Agent/"))}
    assert below == FIRST and "vault-agent.yaml" in laid_first(files, AgentFolder("Agent/"))


def test_both_languages_hold_the_same_things() -> None:
    english, chinese = ({neutral(path) for path in laid_out(language)} for language in LANGUAGES)
    assert english == chinese


@pytest.mark.parametrize(("language", "path"), NOTES)
def test_notes_begin_with_a_plain_header_and_a_heading(language: str, path: str) -> None:
    text = read(language, path)
    assert set(header(text)) == {"type"} or header(text)["type"] in {"job", "profile"}
    assert text.split("---\n", 2)[2].startswith("# ")
    assert text.endswith("\n")
    assert "\r" not in text


def jobs_of(language: str) -> dict[str, Job]:
    """The jobs of the template, by id."""
    notes = {path: read(language, path) for path in laid_out(language) if path.startswith("jobs/")}
    found = [parse_job(path, text.encode()) for path, text in notes.items() if path.endswith(".md")]
    assert not [each for each in found if isinstance(each, JobProblem)]
    return {each.id: each for each in found if isinstance(each, Job)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_ready_jobs_can_all_be_read(language: str) -> None:
    assert len(jobs_of(language)) == 6


def test_the_jobs_are_the_same_in_both_languages_and_have_the_name_of_their_note() -> None:
    english, chinese = ({id: jobs[id] for id in sorted(jobs)} for jobs in map(jobs_of, LANGUAGES))
    plain = [{id: replace(each, title="", text="") for id, each in jobs.items()} for jobs in (english, chinese)]
    assert plain[0] == plain[1]
    assert [each.path for each in english.values()] == [f"jobs/{id}.md" for id in english]


@pytest.mark.parametrize(("language", "path"), NOTES)
def test_every_link_leads_to_a_note_of_the_template(language: str, path: str) -> None:
    files = laid_out(language)
    by_name = {name.rpartition("/")[2].removesuffix(".md") for name in files}
    targets = [link.split("|")[0].split("#")[0] for link in re.findall(r"\[\[([^\]]+)\]\]", read(language, path))]
    assert [t for t in targets if t not in files and f"{t}.md" not in files and t not in by_name] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_note_names_are_unique_so_that_short_links_are_not_ambiguous(language: str) -> None:
    names = [path.rpartition("/")[2].lower() for path in laid_out(language)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("language", "path"), NOTES)
def test_chinese_notes_are_chinese_and_english_ones_are_not(language: str, path: str) -> None:
    prose = re.sub(r"`[^`]*`|\[\[[^\]]*\]\]", "", read(language, path))
    assert bool(re.search(r"[\u4e00-\u9fff]", prose)) == (language == "zh")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_marker_of_a_vault_names_its_language(language: str) -> None:
    assert yaml.safe_load(read(language, "vault-agent.yaml")) == {"vault": {"language": language}}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_settings_offered_in_a_vault_are_those_that_may_travel(language: str) -> None:
    text = read(language, "vault-agent.yaml")
    commented = r"^(?:# (?=git:|inbox:|sync:|  )|(  )# (?=folder:|private:))"
    offered = yaml.safe_load(re.sub(commented, r"\1", text, flags=re.MULTILINE))
    assert {f"{section}.{key}" for section, keys in offered.items() for key in keys} == TRAVELS


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_overviews_are_there(language: str) -> None:
    bases = {path for path in laid_out(language) if path.endswith(".base")}
    assert bases == {f"{name}.base" for name in ("entries", "jobs", "tasks", "questions", "approvals")}


@pytest.mark.parametrize(("language", "path"), BASES)
def test_views_are_what_obsidian_knows(language: str, path: str) -> None:
    base = base_of(language, path)
    assert set(base) <= TOP_KEYS
    names = []
    for view in views_of(base):
        assert set(view) <= VIEW_KEYS
        assert view["type"] in VIEW_TYPES
        names.append(str(view["name"]))
    assert len(names) >= 3
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("language", "path"), BASES)
def test_views_show_one_folder_without_its_about_note(language: str, path: str) -> None:
    folder = path.removesuffix(".base")
    assert base_of(language, path)["filters"] == {
        "and": [f'file.inFolder("{folder}")', 'file.ext == "md"', 'type != "about"']
    }


def expressions(base: dict[str, Plain]) -> Iterator[str]:
    """Every filter statement and formula of a base."""

    def statements(node: Plain) -> Iterator[str]:
        match node:
            case str():
                yield node
            case list():
                for item in node:
                    yield from statements(item)
            case dict():
                assert set(node) <= {"and", "or", "not"}
                for item in node.values():
                    yield from statements(item)

    yield from statements(base.get("filters"))
    for view in views_of(base):
        yield from statements(view.get("filters"))
    formulas = base.get("formulas", {})
    assert isinstance(formulas, dict)
    yield from (str(formula) for formula in formulas.values())


def columns(base: dict[str, Plain]) -> Iterator[str]:
    """Every property that a base shows, names, sorts or groups by."""
    properties = base["properties"]
    assert isinstance(properties, dict)
    yield from properties
    for view in views_of(base):
        order, sort, group = view["order"], view.get("sort", []), view.get("groupBy")
        assert isinstance(order, list)
        assert isinstance(sort, list)
        yield from (str(name) for name in order)
        for rule in [*sort, group]:
            if isinstance(rule, dict):
                assert rule["direction"] in {"ASC", "DESC"}
                yield str(rule["property"])


def assert_known(name: str, base: dict[str, Plain]) -> None:
    first, _, rest = name.partition(".")
    if first == "file":
        assert rest in FILE_PROPERTIES, name
    elif first == "formula":
        formulas = base.get("formulas")
        assert isinstance(formulas, dict)
        assert rest in formulas, name
    else:
        assert (rest if first == "note" else first).split(".")[0] in KEYS, name


@pytest.mark.parametrize(("language", "path"), BASES)
def test_expressions_use_only_what_exists(language: str, path: str) -> None:
    base = base_of(language, path)
    for expression in expressions(base):
        bare = re.sub(r'"[^"]*"', '""', expression)
        assert bare.count("(") == bare.count(")")
        assert set(re.findall(r"(?<![\w.])(\w+)\(", bare)) <= GLOBAL_FUNCTIONS, expression
        assert set(re.findall(r"\.(\w+)\(", bare)) <= METHODS, expression
        values = re.sub(r"\.?\b\w+\(", "(", bare)
        for name in re.findall(r"[A-Za-z_][\w.]*", values):
            if name != "file":
                assert_known(name, base)


@pytest.mark.parametrize(("language", "path"), BASES)
def test_columns_exist_and_have_a_name_for_people(language: str, path: str) -> None:
    base = base_of(language, path)
    properties = base["properties"]
    assert isinstance(properties, dict)
    shown = set(columns(base))
    for name in shown:
        assert_known(name, base)
    assert shown <= set(properties)
    for label in properties.values():
        assert isinstance(label, dict)
        assert bool(re.search(r"[\u4e00-\u9fff]", str(label["displayName"]))) == (language == "zh")


def test_known_names_are_in_obsidians_help() -> None:
    if not OBSIDIAN_HELP.is_dir():
        pytest.skip("Obsidian's help is not beside the project")
    functions = (OBSIDIAN_HELP / "Bases/Functions.md").read_text("utf-8")
    syntax = (OBSIDIAN_HELP / "Bases/Bases syntax.md").read_text("utf-8")
    views = (OBSIDIAN_HELP / "Bases/Views.md").read_text("utf-8")
    assert [n for n in GLOBAL_FUNCTIONS | METHODS if f"### `{n}()`" not in functions] == []
    assert [n for n in FILE_PROPERTIES if f"`file.{n}`" not in functions + syntax] == []
    assert [n for n in TOP_KEYS if f"\n{n}:\n" not in syntax] == []
    assert [n for n in VIEW_TYPES if f"**{n}**" not in views] == []


@pytest.mark.parametrize(
    ("path", "ignored"),
    [
        (".obsidian/workspace.json", True),
        (".obsidian/workspace-mobile.json", True),
        (".obsidian/cache", True),
        (".obsidian/types.json", False),
        (".obsidian/app.json", False),
        (".trash/old.md", True),
        ("entries/note.md~", True),
        ("entries/.#note.md", True),
        ("#note.md#", True),
        ("daily/.2026-11-21.md.swp", True),
        ("4913", True),
        (".DS_Store", True),
        ("entries/.vault-agent-01HZ", True),
        ("vault-agent.yaml", False),
        ("note.sync-conflict-20261121-101500-ABCDEFG.md", False),
        ("entries/2026/11/note.md", False),
        ("# not an editor's file.md", False),
    ],
)
def test_git_ignores_passing_files_and_never_a_persons_words(tmp_path: Path, path: str, ignored: bool) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_bytes((TEMPLATE / "common/dot-gitignore").read_bytes())
    asked = subprocess.run(["git", "-C", tmp_path, "check-ignore", "--quiet", "--", path], check=False)
    assert (asked.returncode == 0) is ignored
