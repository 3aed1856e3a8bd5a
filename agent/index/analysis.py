"""Converts text into terms, in the same way for every index and every query.

English words are stemmed, runs of Han, kana and Hangul become pairs of characters, and identifiers (`foo_bar`,
`fooBar`, `v1.2.3`, `E1234-5`) are kept whole beside their parts. Weighing the terms is left to `signals`.
"""

import re
import unicodedata
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import Any

_STOP_WORDS = """
a about above after again all also am an and any are aren as at be because been before being below between both but
by can cannot could couldn d did didn do does doesn doing don done down during each few for from further had hadn
has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just let
ll m me more most my myself no nor not now of off on once only or other our ours ourselves out over own re s same
shall she should shouldn so some such t than that the their theirs them themselves then there these they this those
through to too under until up us ve very was wasn we were weren what when where which while who whom whose why will
with won would wouldn you your yours yourself yourselves
"""
_CJK_ASKING = """
什么时候 什么 为什么 为何 何在 怎么样 怎么 怎样 如何 多少 多久 多大 多长 几点 几号 哪个 哪些 哪里 哪天 哪位 哪儿 哪年 谁
是否 能否 有没有 是不是 能不能 会不会 请问
"""
_CJK_STOP = "一个 么样 些什 他们 以及 你们 可以 如果 应该 我们 或者 这个 这些 那个 那些 需要"
_IRREGULAR = """
go went gone goes, buy bought, bring brought, think thought, teach taught, catch caught, find found, make made, take
took taken, give gave given, get got gotten, write wrote written, see saw seen, say said, tell told, meet met, feel
felt, leave left, keep kept, sleep slept, win won, lose lost, run ran, begin began begun, sing sang sung, swim swam
swum, drive drove driven, ride rode ridden, speak spoke spoken, break broke broken, choose chose chosen, grow grew
grown, know knew known, eat ate eaten, fall fell fallen, hear heard, hold held, build built, send sent, spend spent,
sell sold, pay paid, fly flew flown, draw drew drawn, become became, come came, child children, man men, woman
women, person people, foot feet, mouse mice, life lives, wife wives, adopt adoption, receive received,
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Left out of scores; still searched for when a query has no other words."""
CJK_STOP = frozenset((*_CJK_ASKING.split(), *_CJK_STOP.split()))
"""Words that are interrogative, demonstrative or modal only."""
CJK_STOP_CHARACTERS = frozenset("的了吗呢么吧啊是在和与")
IRREGULAR = {
    form: base for line in _IRREGULAR.split(",") if line.split() for base, *forms in (line.split(),) for form in forms
}
"""The base form of each irregular form."""


_CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_ASCII_RUN = re.compile(r"[^\W]+(?:['.:/+#@&-]+[^\W]+)*(?:\+\+|#(?!\w))?", re.ASCII)
"""The pattern of `_run` for ASCII text: saves a search 13 ms, the time to compile a set with the ranges of all
scripts."""
_PART = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBER = re.compile(r"[0-9]+|[^\W0-9]+")
LONGEST = 64
"""Characters of a term that are kept: longer terms are data, not words, and engines refuse terms of kilobytes."""


def terms(text: str) -> list[str]:
    """The terms of a text, in order, without stop words."""
    return [*chain.from_iterable(map(_weighty.__getitem__, _runs(text)))]


def title_terms(text: str) -> list[str]:
    """The terms of a title, with stop words: a note may be called "The Who"."""
    return [term for run in _runs(text) for term in _of_run(run)]


def query_terms(text: str) -> list[str]:
    """The distinct terms of a query; its stop words only if it has no other terms, and so with single characters beside
    words that ask."""
    runs = _runs(text)
    found = dict.fromkeys(term for run in runs for term in (_asked(run) if _is_cjk(run) else _of_run(run)))
    weighty = [term for term in found if term not in STOP_WORDS and term not in CJK_STOP]
    return weighty or list(found) or list(dict.fromkeys(term for run in runs for term in _pairs(run)))


def _runs(text: str) -> list[str]:
    """The words of a text, and its runs of characters of scripts that put no spaces between words."""
    if text.isascii():
        return _ASCII_RUN.findall(text)
    return _run().findall(unicodedata.normalize("NFKC", text).replace("’", "'"))


@cache
def _run() -> re.Pattern[str]:
    return re.compile(rf"[{_CJK}]+|[^\W{_CJK}]+(?:['’.:/+#@&-]+[^\W{_CJK}]+)*(?:\+\+|#(?!\w))?")


def _is_cjk(run: str) -> bool:
    return not run.isascii() and _cjk().match(run) is not None


@cache
def _cjk() -> re.Pattern[str]:
    return re.compile(rf"[{_CJK}]")


class _Weighty(dict[str, tuple[str, ...]]):
    """The terms of runs met lately, without stop words: a look-up is a third of the time of a call."""

    def __missing__(self, run: str) -> tuple[str, ...]:
        if len(self) >= _HELD:
            self.clear()
        found = self[run] = tuple(term for term in _of_run(run) if term not in STOP_WORDS)
        return found


_HELD = 1 << 17
_weighty = _Weighty()


def _of_run(run: str) -> tuple[str, ...]:
    if run.isascii() and run.isalpha():
        return _word(run)
    return _pairs(run) if _is_cjk(run) else _compound(run)


def _word(run: str) -> tuple[str, ...]:
    """The terms of a plain word: its stem; for `fooBar` also the whole and the parts."""
    low = run.casefold()
    if low in STOP_WORDS:
        return (low,)
    parts = _CAMEL.split(run) if low != run and not run.istitle() and not run.isupper() else [run]
    if len(parts) > 1:
        return (low[:LONGEST], *(stem(part.casefold()) for part in parts))
    return (stem(low),)


def _compound(run: str) -> tuple[str, ...]:
    """The terms of a run with digits, marks or accented letters: its parts, and the whole if it has more than one
    part."""
    low = run.casefold()
    if low.endswith("'s"):
        return _compound(run[:-2]) if len(run) > 2 else ()
    if low.isalpha():
        return (stem(low),)
    if low.isdigit():
        return (low[:LONGEST],)
    parts: list[str] = []
    for part in _PART.findall(run):
        pieces = _CAMEL.split(part)
        for piece in pieces:
            split = _NUMBER.findall(piece)
            parts.extend(
                _word(each)[-1] if each.isascii() and each.isalpha() else stem(each.casefold()) for each in split
            )
            if len(split) > 1:
                parts.append(piece.casefold()[:LONGEST])
    parts = [part for part in dict.fromkeys(parts) if part not in STOP_WORDS or len(part) > 2]
    return tuple(dict.fromkeys((*parts, low[:LONGEST])))


def _pairs(run: str) -> tuple[str, ...]:
    """Pairs of neighbouring characters, and each single character, for a query of one character."""
    return (*(one + other for one, other in pairwise(run)), *run)


def _asked(run: str) -> list[str]:
    """The pairs of a run in a query, without words that say nothing. What asks has no place in an answer, so that no
    pair of its last character and the next one has: the run is cut there."""
    if len(run) == 1:
        return [run]
    parts = [part for part in _asking().split(run) if part]
    pairs = [one + other for part in parts for one, other in pairwise(part)]
    weighty = [each for each in pairs if not CJK_STOP_CHARACTERS.intersection(each) and each not in CJK_STOP]
    return weighty or pairs


@cache
def _asking() -> re.Pattern[str]:
    words = "|".join(sorted(_CJK_ASKING.split(), key=lambda word: (-len(word), word)))
    return re.compile(f"(?!多大学|(?<=[很许更太最不])多)(?:{words})")  # 多伦多大学, 很多大米: nothing is asked there


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """The stem of a lower-case word by Snowball's English rules; irregular forms first become their base form."""
    if len(word) > LONGEST:
        return word[:LONGEST]
    base = IRREGULAR.get(word, word)
    return str(_stemmer().stem(base)) if base.isascii() else base


def forget_terms(few: int) -> None:
    """Forget the terms of words met, if they are more than a few."""
    if len(_weighty) > few:
        _weighty.clear()
    if stem.cache_info().currsize > few:
        stem.cache_clear()


@cache
def _stemmer() -> Any:
    from whoosh.lang.snowball.english import EnglishStemmer  # its `porter` makes "runn" of running

    return EnglishStemmer()
