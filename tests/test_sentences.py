"""A sentence keeps its values beside it, so that it can be said in another language; an error holds two of them."""

from agent.errors import ConfigError, GitFailed, Permanent, os_reason
from agent.texts import Sentence, either, translated


def test_a_sentence_in_a_sentence_is_translated_too() -> None:
    inner = ConfigError("{path} is not a file", hint="make {path} shorter", path="a.yaml")
    outer = ConfigError("{where}: {problem}", hint=inner.hint, where="here", problem=inner)
    assert (outer.message, outer.hint) == ("here: a.yaml is not a file", "make a.yaml shorter")
    assert translated(outer.message, "zh") == "here：a.yaml 不是文件"
    assert (
        translated(Sentence("did you mean {names}?", names=either(["a", "b", "c"])), "zh")
        == "你要的是 a 或 b 或 c 吗？"
    )


def test_braces_in_a_value_or_in_a_sentence_without_values_stay() -> None:
    told = Sentence("{problem}: {words}", problem=Sentence("no {json}"), words='{"error": {}}')
    error = Permanent(told, hint=Sentence("{tool: NAME}"))
    assert (error.message, error.hint) == ('no {json}: {"error": {}}', "{tool: NAME}")
    assert translated(error.message, "zh") == 'no {json}：{"error": {}}'


def test_a_sentence_without_a_translation_stays_english() -> None:
    assert translated(Sentence("nobody has translated {this}", this=1), "zh") == "nobody has translated 1"


def test_reasons_of_the_system_are_sentences() -> None:
    assert translated(os_reason(PermissionError(13, "Permission denied")), "zh") == "没有权限"
    assert translated(GitFailed("push", 1, "").message, "zh").endswith("退出码 1")
