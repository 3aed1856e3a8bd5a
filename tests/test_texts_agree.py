"""Every sentence exists in each language, with the same placeholders, and the code asks for none that is not there."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
import yaml

from agent.texts import LANGUAGES, text, translated
from tests.sources import Source, sources

ROOT = Path(__file__).parents[1] / "agent"


def sentences(language: str) -> dict[str, str]:
    sections = yaml.load((ROOT / "texts" / f"{language}.yaml").read_bytes(), yaml.CSafeLoader)
    return {f"{section}.{name}": said for section, names in sections.items() for name, said in names.items()}


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def test_both_languages_have_the_same_keys_and_placeholders() -> None:
    english, chinese = sentences("en"), sentences("zh")
    assert english.keys() == chinese.keys()
    assert {key: placeholders(said) for key, said in english.items()} == {
        key: placeholders(said) for key, said in chinese.items()
    }


def test_every_placeholder_has_a_name() -> None:
    assert [key for key, said in sentences("en").items() if "" in placeholders(said)] == []


KEY = re.compile(r"[a-z_]+\.[a-z_]+")


def named(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def keys_in(call: ast.Call) -> list[str]:
    constants = [each.value for each in call.args if isinstance(each, ast.Constant)]
    return [each for each in constants if isinstance(each, str) and KEY.fullmatch(each)]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What is looked for in the code of one file."""

    path: str
    calls: list[ast.Call]
    constants: list[ast.Constant]
    joined: list[ast.JoinedStr]
    classes: list[ast.ClassDef]
    assignments: list[ast.Assign | ast.AnnAssign]


@cache
def code() -> tuple[Parsed, ...]:
    """All files of the program."""
    return tuple(_sorted(source) for source in sources())


def _sorted(source: Source) -> Parsed:
    found = Parsed(source.path, [], [], [], [], [])
    for each in source.nodes:
        match each:
            case ast.Call():
                found.calls.append(each)
            case ast.Constant():
                found.constants.append(each)
            case ast.JoinedStr():
                found.joined.append(each)
            case ast.ClassDef():
                found.classes.append(each)
            case ast.Assign() | ast.AnnAssign():
                found.assignments.append(each)
    return found


def beginnings(file: Parsed) -> list[str]:
    """The constant beginnings of keys that are put together, such as `run_report.` in an f-string."""
    joined = (each.values[0] for each in file.joined if each.values)
    constants = (each.value for each in joined if isinstance(each, ast.Constant))
    return [each for each in constants if isinstance(each, str) and re.fullmatch(r"[a-z_]+\.[a-z_]*", each)]


def test_every_key_in_the_code_exists_and_every_sentence_is_used() -> None:
    english, unknown, used = sentences("en"), [], set()
    for file in code():
        used |= {each.value for each in file.constants}
        used |= {key for start in beginnings(file) for key in english if key.startswith(start)}
        for call in file.calls:
            if named(call) not in {"text", "_text", "in_all_languages"}:
                continue
            given = {each.arg for each in call.keywords}
            for key in keys_in(call):
                if key not in english or (given and given != placeholders(english[key])):
                    unknown.append(f"{file.path}:{call.lineno} {key}")
    assert unknown == []
    assert [key for key in english if key not in used] == []


NOT_SAID = {"ToolRetry", "ToolFailed", "GitFailed"}
"""Errors that only a model reads, in English, and one that takes a command instead of a sentence."""
CODE = re.compile(r"vault-agent(?: [a-z]+){0,2}(?![a-z])|`[^`]*`|[A-Z]{2,}|`git [^`]*`|\{[^}]*\}|--[a-z-]+|[^A-Za-z]")


@cache
def errors() -> set[str]:
    """The names of all errors that a person may read."""
    classes = [each for file in code() for each in file.classes]
    found, new = set[str](), {"AgentError"}
    while new:
        found |= new
        new = {each.name for each in classes for base in each.bases if getattr(base, "id", "") in new}
    return found - NOT_SAID


def said_in(call: ast.Call) -> list[ast.expr]:
    """The sentences of a call: an error's message and hint, or what a command says."""
    if named(call) in {"tr", "translated", "Sentence", "row", "_row"}:
        return call.args[:1]
    if named(call) in {"counted", "NotFound"}:
        return call.args[-3 if named(call) == "NotFound" else 1 :]
    if named(call) in {"fail", "broken_reply"}:
        return call.args[1:]
    hints = [each.value for each in call.keywords if each.arg in {"hint", "next"}]
    if named(call) in {"ok", "warn", "bad"}:
        return [*call.args, *hints]
    if named(call) in {"Check", "Refused"}:
        return [*call.args[1:], *hints]
    if named(call) in {"Left", "Reason", "_refuse", "_skip"}:
        return call.args[-1:]
    return [*call.args[:1], *hints] if named(call) in errors() else []


def constants(said: ast.expr, assigned: Mapping[str, list[ast.expr]]) -> list[str]:
    """The texts that an expression can be: a constant, a choice of two, or a variable or table that holds such."""
    match said:
        case ast.Constant(value=str() as text):
            return [text]
        case ast.IfExp(body=one, orelse=other):
            return constants(one, assigned) + constants(other, assigned)
        case ast.Dict(values=values):
            return [text for each in values for text in constants(each, assigned)]
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
            return [text for each in assigned.get(name, []) for text in constants(each, {})]
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[_, *others]):
            table = [text for each in assigned.get(name, []) for text in constants(each, {})]
            return table + [text for each in others for text in constants(each, assigned)]
    return []


def assignments(file: Parsed) -> dict[str, list[ast.expr]]:
    """What each variable of a file is set to, anywhere in it."""
    found: dict[str, list[ast.expr]] = {}
    for each in file.assignments:
        if each.value is not None:
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            for target in targets:
                pairs = [(target, each.value)]
                if isinstance(target, ast.Tuple) and isinstance(each.value, ast.Tuple):
                    pairs = list(zip(target.elts, each.value.elts, strict=True))
                for one, value in pairs:
                    if isinstance(one, ast.Name):
                        found.setdefault(one.id, []).append(value)
    return found


@cache
def terminal(*, variables: bool = True) -> list[tuple[str, ast.Call, str]]:
    """The place, the call and the sentence of everything that the code says on a terminal; those in variables, too."""
    found = []
    for file in code():
        assigned = assignments(file) if variables else {}
        for call in file.calls:
            for said in said_in(call):
                where = f"{file.path}:{call.lineno}"
                found += [(where, call, each) for each in constants(said, assigned)]
    return found


def test_every_placeholder_on_the_terminal_has_a_value() -> None:
    wrong = []
    for where, call, sentence in terminal(variables=False):
        given = {each.arg for each in call.keywords} | ({"count"} if named(call) == "counted" else set())
        if None not in given and given - {"hint"} and not placeholders(sentence) <= given:
            wrong.append(f"{where} {sentence}")
    assert wrong == []


@pytest.mark.parametrize("path", sorted((ROOT / "texts").glob("*.yaml")), ids=lambda path: path.name)
def test_no_key_stands_twice(path: Path) -> None:
    """YAML takes the last one without a word."""

    def twice(node: yaml.Node) -> Iterator[str]:
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value]
            yield from sorted({key for key in keys if keys.count(key) > 1}) if len(keys) != len(set(keys)) else ()
            for _, value in node.value:
                yield from twice(value)

    found = yaml.compose(path.read_bytes(), yaml.CSafeLoader)
    assert found is not None and list(twice(found)) == []


def test_the_terminal_speaks_chinese() -> None:
    chinese = yaml.load((ROOT / "texts/terminal.zh.yaml").read_bytes(), yaml.CSafeLoader)
    missing = {each for _, _, each in terminal() if each not in chinese and CODE.sub("", each)}
    assert sorted(missing) == []


def test_no_sentence_is_put_together() -> None:
    """An f-string cannot be translated: the sentence has placeholders, and the values stand beside it."""
    found = []
    for file in code():
        for call in file.calls:
            if any(isinstance(each, ast.JoinedStr | ast.BinOp) for each in said_in(call)):
                found.append(f"{file.path}:{call.lineno}")
    assert found == []


def test_a_translation_has_the_placeholders_of_its_sentence() -> None:
    chinese = yaml.load((ROOT / "texts/terminal.zh.yaml").read_bytes(), yaml.CSafeLoader)
    assert {key: fields(key) for key in chinese} == {key: fields(said) for key, said in chinese.items()}


def fields(sentence: str) -> list[tuple[str, str | None, str | None]]:
    """The placeholders of a sentence with their formats."""
    return sorted((name, spec, how) for _, name, spec, how in Formatter().parse(sentence) if name is not None)


def test_the_quick_readers_say_what_the_parser_says() -> None:
    for language in LANGUAGES:
        assert {key: text(key, language) for key in sentences(language)} == sentences(language)
    written = yaml.load((ROOT / "texts" / "terminal.zh.yaml").read_bytes(), yaml.CSafeLoader)
    assert {english: translated(english, "zh") for english in written} == written
    assert translated("A sentence that has no translation", "zh") == "A sentence that has no translation"


_OTHER_WORDS = re.compile("您|助理|对方|使用者|当事人|机主|用户(?!名|偏好)")
"""Words beside 你 and 主人 for the person, and beside 助手 for the agent; 用户名 is a login, 用户偏好 a heading that
people write."""


def test_the_person_and_the_agent_have_one_word_each_in_chinese() -> None:
    root = Path(__file__).parents[1]
    places = [*root.glob("agent/texts/*zh.yaml"), *root.glob("agent/docs/zh/*.md"), *root.glob("skills/*/*.zh.md")]
    places += root.glob("vault_template/zh/**/*.md")
    rows = ((path, row) for path in places for row in path.read_text("utf-8").splitlines())
    found = [f"{path.name}: {row}" for path, row in rows if _OTHER_WORDS.search(row.replace("另一个用户", ""))]
    assert len(places) > 20 and found == []
