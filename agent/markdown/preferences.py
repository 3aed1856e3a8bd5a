"""Sentences that state a preference, a standing instruction or a fact to remember, in English and Chinese.

Regular expressions, for use without a model or where the result must not depend on one.
"""

import re

LONGEST = 300
"""Characters. A longer sentence is pasted text, not a preference."""

_SENTENCE = re.compile(r"[^.!?。！？；\n]+(?:\.(?=\w)[^.!?。！？；\n]*)*[.!?。！？；]?")
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[^\n]*$|^>[^\n]*$", re.MULTILINE | re.DOTALL)
_ENGLISH = re.compile(
    r"""\bI(?:'d|\ would)?\ (?:(?:really|much|strongly|generally|usually|always|still|also)\ )?
            (?:prefer|like|love|hate|dislike|rather|can't\ stand|never|always|usually)\b
      | \bmy\ (?:preferred|favou?rite|preference|usual)\b
      | \b(?:from\ now\ on|going\ forward|in\ (?:the\ )?future|by\ default|as\ a\ rule|every\ time|each\ time)\b
      | ^(?:and\ |but\ |so\ |then\ |also,?\ )?(?:please,?\ )?
            (?:always|never|don't|do\ not|avoid|remember|keep\ in\ mind|make\ sure|be\ sure|stop|no\ more|call\ me)\b
      | \bplease\ (?:always|never|don't|do\ not|avoid|remember|keep|use|make\ sure|stop|call\ me)\b
      | \byou\ (?:must|should)\ (?:always|never|not)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CHINESE = re.compile(
    r"我(?:们)?(?:个人|其实|也|都|更|比较|很|最|不太|不|一直|通常|一般|从来|总是|还是|特别|非常){0,3}"
    r"(?:喜欢|偏好|偏爱|讨厌|倾向|习惯|爱|希望|宁愿|宁可|受不了)"
    r"|我的(?:习惯|偏好|喜好|原则)|以后(?:都|请|要|就|别|不要|不用|每)|今后|从现在(?:起|开始)|从今(?:天|往)?(?:起|以)"
    r"|默认(?:用|使用|情况)|一律|务必|千万|总是|永远|始终|每次都"
    r"|请(?:你)?(?:一直|都|用|使用|记住|记得|不要|别|勿|避免)|(?:^|[，,、\s])(?:不要|别再|别用|别给|不许|禁止|记住|记得|叫我|称呼我)"
)


def preferences(text: str) -> tuple[str, ...]:
    """The sentences of a text that state a preference, in order, without questions, quotes and code."""
    found = (sentence.strip(" \t\r-*•·") for sentence in _SENTENCE.findall(_FENCE.sub("", text.replace("’", "'"))))
    return tuple(sentence for sentence in found if _is_wish(sentence))


def _is_wish(sentence: str) -> bool:
    if not sentence or len(sentence) > LONGEST or sentence.endswith(("?", "？", "吗", "呢")):
        return False
    return bool(_ENGLISH.search(sentence) or _CHINESE.search(sentence))
