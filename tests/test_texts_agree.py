"""Every sentence exists in each language, with the same placeholders, and the code asks for none that is not there."""

import ast
from pathlib import Path
from string import Formatter

import yaml

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


def test_every_key_in_the_code_exists() -> None:
    english = sentences("en")
    unknown = []
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
                continue
            key = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            if node.func.id not in {"text", "in_all_languages"} or not isinstance(key, str):
                continue
            given = {each.arg for each in node.keywords}
            if key not in english or (given and given != placeholders(english[key])):
                unknown.append(f"{path.relative_to(ROOT)}:{node.lineno} {key}")
    assert unknown == []
