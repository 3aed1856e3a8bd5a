"""Every sentence exists in each language, with the same placeholders, and the code asks for none that is not there."""

import ast
import re
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


KEY = re.compile(r"[a-z_]+\.[a-z_]+")


def named(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def keys_in(call: ast.Call) -> list[str]:
    constants = [each.value for each in call.args if isinstance(each, ast.Constant)]
    return [each for each in constants if isinstance(each, str) and KEY.fullmatch(each)]


def beginnings(tree: ast.AST) -> list[str]:
    """The constant beginnings of keys that are put together, such as `run_report.` in an f-string."""
    joined = (each.values[0] for each in ast.walk(tree) if isinstance(each, ast.JoinedStr) and each.values)
    constants = (each.value for each in joined if isinstance(each, ast.Constant))
    return [each for each in constants if isinstance(each, str) and re.fullmatch(r"[a-z_]+\.[a-z_]*", each)]


def test_every_key_in_the_code_exists_and_every_sentence_is_used() -> None:
    english, unknown, used = sentences("en"), [], set()
    for path in ROOT.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        used |= {each.value for each in ast.walk(tree) if isinstance(each, ast.Constant)}
        used |= {key for start in beginnings(tree) for key in english if key.startswith(start)}
        for call in (each for each in ast.walk(tree) if isinstance(each, ast.Call)):
            if named(call) not in {"text", "_text", "in_all_languages"}:
                continue
            given = {each.arg for each in call.keywords}
            for key in keys_in(call):
                if key not in english or (given and given != placeholders(english[key])):
                    unknown.append(f"{path.relative_to(ROOT)}:{call.lineno} {key}")
    assert unknown == []
    assert [key for key in english if key not in used] == []
