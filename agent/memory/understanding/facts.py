"""Facts in what people say, by rule, and which of them came up again and again; English and Chinese.

Only people's own words count: what a model answered is no evidence, nor is a stranger's text. Whether a fact goes into
MEMORY.md, and where, is `longterm`'s and `memory_note`'s.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from agent.markdown.preferences import preferences
from agent.memory.entry import EntryType, Scope
from agent.memory.store import StoredEntry, with_offset
from agent.memory.understanding.clusters import clusters
from agent.memory.understanding.similarity import is_same, wording

LONGEST = 300
"""Characters: what is longer is a paragraph that somebody pasted, not a fact."""


class FactKind(StrEnum):
    """What a fact is about; each has its section in MEMORY.md."""

    PREFERENCE = "preference"
    DECISION = "decision"
    WORKFLOW = "workflow"
    PERSON = "person"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact in the words in which it was said last. `times` it was said; `evidence` are links, the newest first."""

    text: str
    kind: FactKind
    times: int
    since: datetime
    evidence: tuple[str, ...]


_SENTENCE = re.compile(r"[^.!?。！？；\n]+(?:[.!?](?=\w)[^.!?。！？；\n]*)*[.!?。！？；]?")
_COMMA = re.compile(r"[,，](?!\d)")
_HAN = re.compile(r"[\u3400-\u9fff]")
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[^\n]*$|^>[^\n]*$", re.MULTILINE | re.DOTALL)
_CUT = re.compile(r" \.\.\. |…")
_LABEL = re.compile(
    r"^\s*(?:(?P<person>user|you|me|用户|我)|(?P<model>assistant|agent|助手|助理))\s*[:：]\s*", re.IGNORECASE
)
_LEAD = re.compile(
    r"^(?:[-*+•#>]\s+|\d{1,3}[.)]\s+)*"
    r"(?:(?:by the way|btw|also|and|but|so|well|just|fyi|again|as i said|like i said|please|hi|hello|hey)[,:]?\s+)*"
    r"(?:(?:remember|note|don't forget|keep in mind|i (?:told|said|mentioned)(?: you)?)[:,]?\s+(?:that\s+)?"
    r"(?=\w+\s+\w+))?"
    r"(?:(?:顺便说一下|对了|另外|还有|再说一次|我说过|我提过|你好|请|麻烦)?[,，:：、\s]*)*"
    r"(?:(?:记住|记得|记一下|别忘了)[,，:：\s]*)?",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"[?？]\s*$|[吗呢么]\s*[。.]?\s*$"
    r"|^(?:what|who|whom|whose|when|where|why|how|which|is|are|was|were|am|do|does|did|can|could|would|will|shall|should"
    r"|have|has|may|might|if|whether)\b(?!.*[,;])"
    r"|^(?:什么|谁|哪|怎么|怎样|为什么|为何|多少|几|是否|能否|能不能|可不可以|有没有|是不是|如果)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:tell|show|give|find|write|make|create|add|send|book|buy|check|look|search|summari[sz]e|translate|explain|draft"
    r"|fix|update|delete|remove|open|read|list|plan|set|put|call|help|run|test|deploy|remind|go|let me"
    r"|thanks|thank you|ok|okay|i want you to"
    r"|i need you to|i(?:'d| would) like you to)\b|^(?:帮|替我|给我|把|写|查|找|告诉|看看|翻译|总结|谢谢|好的|麻烦)",
    re.IGNORECASE,
)
_ENGLISH = re.compile(
    r"(?<=\w)(?:'s|'re|'m|’s|’re|’m)\s"
    r"|(?<=\s)(?:is|are|was|were|am|has|have|had|likes?|loves?|prefers?|hates?|dislikes?|lives?|works?|uses?|speaks?"
    r"|drinks?|eats?|drives?|plays?|stud(?:y|ies)|owns?|needs?|wants?|means?|costs?|opens?|closes?|starts?|ends?|leaves?"
    r"|moved|born|called|named|allergic|belongs?|reports?|manages?|leads?|runs?|keeps?|goes|meets?|takes?|decided|agreed"
    r"|chose|always|never|go|teach(?:es)?|cannot|can't|don't|doesn't|will|must|should)\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"是|叫|住|有|喜欢|讨厌|偏好|习惯|不吃|不喝|过敏|使用|采用|负责|属于|需要|毕业|出生|生日|养了|会说|换成|改为|等于"
    r"|决定|选定|用|在.{1,10}(?:工作|上班|读书|上学|开会|举行)|每[天周月年次]|总是|从不"
)
_SUBJECT = re.compile(
    r"^(?:I|[Ww]e|[Tt]hey)\s+(?:\w+ly\s+)?(?!(?:think|guess|know|see|hope|wonder|suppose|just|said|told|asked|meant)\b)"
    r"[a-z]{2,}\s+(?!that\b|if\b|it\b|you\b)[\w'-]+\s+\w"
    r"|^(?:(?:[Tt]he|[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir)\s+(?:[\w'-]+\s+){1,4}?|[Ss]he\s+|[Hh]e\s+"
    r"|(?:Dr|Mr|Mrs|Ms|Prof|Professor|Aunt|Uncle)\.?\s+[\w'-]+\s+)(?:\w+ly\s+)?[a-z]+(?:s|ed)\s+"
    r"(?:an?|the|my|our|his|her|their|in|on|at|to|from|for|with|by|until|before|after|behind|under|near|over|into|only|about|every|each)\b"
)
"""A subject, what looks like its verb, and more: "The tuner comes in April", "We brew our own beer"."""
_DOES = re.compile(r" [a-z]+(?:s|ed) \w")
_SUBJECT_IN_CHINESE = re.compile(
    r"^(?!我们?(?:要|想|来|去|再|先)|[在从由要会能请]|不要|应该|必须).{1,20}?"
    r"(?:(?<![现正实好])在(?!线|乎|意|想)|(?<![理自])由(?!于|此)|从(?!来|不)|(?<![重主需只还想])要(?!是|不|求|点)"
    r"|(?<![开社晚机])会(?!议|员|计|话)|(?<![可只功性智])能(?!力|源|够吗)|必须|应该|[放存]到|(?<!回)归(?!档|纳))"
    r"|^(?:我们?|他们?|她们?|大家)(?!要|想|看|问|说|再|先|来|去|猜|觉得|知道|明白|懂|不知道|不明白|不懂|的意思|刚|回来|到了)"
)
"""A topic, then a preposition, a modal verb, or a place: what Chinese has where English has an ending."""
_LEAST_HAN = 6
"""Characters from which on such a sentence says something by itself."""
_REACTION = re.compile(
    r"^(?:(?:wow|yeah|yes|no|oh|ah|great|cool|nice|perfect)\s+|\w+,\s+)?"
    r"(?:(?:that|this|it|these|those)(?:\s*'s|\s+(?:is|was|are|were|sounds?|looks?|seems?|works?|means?|makes?|helps?"
    r"|will|would|did|does|has|isn't|wasn't|doesn't|didn't|won't))\b"
    r"|(?:sounds?|looks?|seems?|way to go|let's (?:do|see)|you(?:'re| are)(?! called| named))\b"
    r"|your (?:\w+\s+){0,3}(?:means?|helps?)\b)"
    r"|^(?:那|这)(?:是|就|样|么|太|很|真|都|也|不|可以|挺|倒)|^(?:太(?!太)|真(?!真))",
    re.IGNORECASE,
)
"""What is said about what was said before: it states nothing by itself."""
_DECISION = re.compile(
    r"\b(?:decided|agreed|settled|chose|have chosen|picked|will use|going with|go with|the decision)\b"
    r"|决定|定了|采用|选定|敲定|就用|改用|约定",
    re.IGNORECASE,
)
_WORKFLOW = re.compile(
    r"\b(?:every|each) (?:day|week|month|morning|evening|night|quarter|year|\w+day|release|commit)\b"
    r"|\b(?:weekly|daily|monthly|quarterly|workflow|routine|on (?:mon|tues|wednes|thurs|fri|satur|sun)days)\b"
    r"|\bbefore (?:each|every|any)\b|\bfirst\b.*\bthen\b"
    r"|每天|每周|每月|每次|每年|每逢|流程|例会|先.+(?:再|然后)",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"\bmy (?:wife|husband|partner|son|daughter|sister|brother|mother|father|mom|mum|dad|friend|boss|manager|colleague"
    r"|neighbou?r|doctor|dentist|teacher|cousin|aunt|uncle|grand\w+|girlfriend|boyfriend|kids?|child(?:ren)?)\b"
    r"|\bbirthday\b|\bphone number\b"
    r"|我(?:的)?(?:妻子|老婆|丈夫|老公|儿子|女儿|姐姐|妹妹|哥哥|弟弟|妈妈|爸爸|母亲|父亲|朋友|老板|经理|同事|邻居|医生|老师)"
    r"|生日",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"^(?:Dr |Mr |Ms |Mrs )?[A-Z][a-zà-ÿ]+(?: [A-Z][a-zà-ÿ]+)?(?:'s)? (?:is|lives|works|likes|loves|prefers|hates"
    r"|speaks|has|drinks|eats|plays|studies|was born|birthday|teaches|drives|cannot|can't|doesn't|reports|manages"
    r"|leads)\b"
    r"|^[\u4e00-\u9fff]{2,3}(?:住在|喜欢|负责|在.{1,8}工作|会说|不吃|对.{1,6}过敏)"
)
_NO_NAME = re.compile(
    r"^(?:The|This|That|It|There|We|They|You|Our|My|Your|Everything|Everyone|Today|Tomorrow)\b|^我们?"
)


def statements(text: str, *, any_form: bool = False) -> Iterator[tuple[str, FactKind]]:
    """The facts that somebody states in a text, each with its kind; questions, requests, quotes and code left out.

    `any_form`: whatever is no question counts, for texts that were to be remembered as they are.
    """
    for plain in _stated(text, any_form=any_form):
        yield plain, kind(plain)


def told(text: str) -> str:
    """What is left of a text without its questions and requests, quotes and code; a sentence a line."""
    return "\n".join(plain for plain in _sentences(text) if not _QUESTION.search(plain) and not _ASKS.match(plain))


def _stated(text: str, *, any_form: bool) -> Iterator[str]:
    for plain in _sentences(text):
        if (any_form or _is_statement(plain)) and not _QUESTION.search(plain):
            yield plain


def _sentences(text: str) -> Iterator[str]:
    for part in _CUT.split(_FENCE.sub("", text.replace("’", "'"))):
        for sentence in _SENTENCE.findall(part):
            plain = _LEAD.sub("", sentence.strip()).strip(" \t\r-*•·,，")
            if plain and len(plain) <= LONGEST:
                yield plain


def _is_statement(sentence: str) -> bool:
    if _ASKS.match(sentence):
        return False
    if _REACTION.match(sentence):
        return bool(preferences(sentence))
    if _ENGLISH.search(sentence) or _has_subject(sentence) or (not sentence.isascii() and _says_in_chinese(sentence)):
        return True
    return bool(_WORKFLOW.search(sentence) or preferences(sentence))


def _has_subject(sentence: str) -> bool:
    return bool(_SUBJECT.match(sentence) or (_PERSON.match(sentence) and _DOES.search(sentence)))


def _says_in_chinese(sentence: str) -> bool:
    if _CHINESE.search(sentence):
        return True
    return len(_HAN.findall(sentence)) >= _LEAST_HAN and _SUBJECT_IN_CHINESE.match(sentence) is not None


def kind(sentence: str) -> FactKind:
    """What a statement is about."""
    if _DECISION.search(sentence):
        return FactKind.DECISION
    if _PERSON.search(sentence):
        return FactKind.PERSON
    if _WORKFLOW.search(sentence):
        return FactKind.WORKFLOW
    if _NAME.match(sentence) and not _NO_NAME.match(sentence):
        return FactKind.PERSON
    return FactKind.PREFERENCE if preferences(sentence) else FactKind.OTHER


def spoken(each: StoredEntry) -> str:
    """What the owner said in an entry; empty where it is somebody else's, or the agent's own words."""
    entry = each.entry
    if each.untrusted or entry.scope is not Scope.USER or entry.sender_id:
        return ""
    match entry.type:
        case EntryType.USER_EXPLICIT:
            return entry.text
        case EntryType.CHAT_TURN:
            return "\n".join(_of_person(entry.text))
        case EntryType.AUTO_FLUSH:
            return entry.text if not entry.keywords or "user_instruction" in entry.keywords else ""
        case _:
            return ""


def _of_person(turns: str) -> Iterator[str]:
    """The lines of a conversation that the person said."""
    is_person = True
    for line in turns.splitlines():
        if label := _LABEL.match(line):
            is_person = label["person"] is not None
        if is_person:
            yield _LABEL.sub("", line)


def repeated(entries: Iterable[StoredEntry], since: datetime, times: int, least: float) -> tuple[Fact, ...]:
    """The facts that entries (the newest first) state so many times between them since then, the oldest first.

    `least` is the similarity from which on two sentences state the same. A fact counts once in an entry, or as often
    as the entry says that it was said. What is a sentence of its own in one entry may be a part of one in another.
    """
    recent = [each for each in entries if each.times_since(since)]
    whole = [
        (text, each)
        for each in recent
        for text in dict.fromkeys(_stated(spoken(each), any_form=each.entry.type is EntryType.USER_EXPLICIT))
    ]
    said = [*whole, *((part, each) for text, each in whole for part in _clauses(text))]
    said += ((part, each) for each in recent for part in _asides(spoken(each)))
    texts = [(number, wording(text)) for number, (text, _) in enumerate(said)]
    same = dict(clusters([each for each in texts if len(each[1].terms) > 1], least))
    repeats = {other for others in same.values() for other in others}
    first = (number for number, wanted in texts[: len(whole)] if number not in repeats and len(wanted.terms) > 1)
    groups = ([said[number], *(said[other] for other in same.get(number, ()))] for number in first)
    counted = ((group, _times(group, since)) for group in groups)
    known = [_fact(group, count) for group, count in counted if count >= times]
    parts = [(fact, wording(part)) for fact in known for part in _clauses(fact.text)]
    alone = (
        fact
        for fact in known
        if not any(whole is not fact and is_same(wording(fact.text), part, least) for whole, part in parts)
    )
    return tuple(sorted(alone, key=lambda fact: fact.since))


def _asides(text: str) -> Iterator[str]:
    """What is stated on the way of something else: "I eat no meat, what can I cook?"."""
    for sentence in _sentences(text):
        if _QUESTION.search(sentence) or not _is_statement(sentence):
            yield from (part for part in _clauses(sentence) if _is_statement(part))


def _clauses(text: str) -> tuple[str, ...]:
    """The parts of a sentence, none for one of a single part: commas join what is stated, above all in Chinese."""
    parts = tuple(plain for part in _COMMA.split(text) if (plain := _LEAD.sub("", part.strip())))
    return tuple(part for part in parts if not _QUESTION.search(part)) if len(parts) > 1 else ()


def _times(said: Sequence[tuple[str, StoredEntry]], since: datetime) -> int:
    """How often something was said since then; an entry counts once, however often it states it."""
    return sum(each.times_since(since) for each in {each.path: each for _, each in said}.values())


def _fact(said: Sequence[tuple[str, StoredEntry]], times: int) -> Fact:
    """What the first of these says, which is the newest, with what all of them count for."""
    text = said[0][0]
    entries = {each.path: each for _, each in said}
    newest = sorted(entries.values(), key=lambda each: with_offset(each.entry.created), reverse=True)
    return Fact(text, kind(text), times, newest[-1].entry.created, tuple(each.link for each in newest))
