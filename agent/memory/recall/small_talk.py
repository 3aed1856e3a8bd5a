"""What people say in passing, whatever they talk about: greetings, thanks, a yes, "go on", in English and Chinese.

Only what says nothing by itself: a word that may be what a task is about ("morning", 天气) stands here in a phrase.
What is left of a task without it is what the task is about, however little it says.
"""

import re

_ENGLISH = (
    "hello( there)?|hi|hey|good (morning|afternoon|evening|night)|welcome( back)?|are you there|how do you do",
    "how (are|r) (you|u)( doing)?( today)?|how('s| is) it going|what'?s up|(nice|pleased|good) to (meet|see) you",
    "(good)?bye(( |-)bye)?( for now)?|see you( later| soon| tomorrow| around)?|take care|cheers|good luck",
    "have a (nice|good|great|lovely) (day|evening|night|weekend|time|one)",
    "(many )?thanks( a lot| again| so much| very much)?|thank you( again)?( so much| very much)?|thx|ty",
    "you('re| are) welcome|no problem|never ?mind|no worries|don't worry|sorry|excuse me|pardon|please",
    "yes|yeah|yep|yup|ya|nope|nah|ok|okay|sure|maybe|of course|fine|all ?right|right|exactly|indeed|correct|got it",
    "i see|makes sense|(that )?sounds good|that's (it|all|right|fine|great)|well done",
    "long time no see|(good|great|nice) (job|work|idea)",
    "great|nice|cool|perfect|excellent|awesome|wonderful|lovely|amazing|brilliant|interesting|oh|wow|oops|hm+|lol|(ha)+",
    "go (on|ahead)|carry on|continue|keep going|again|once more|stop( it)?|wait( a (moment|minute|second))?",
    "(do|try|say) (it|that|this)( again)?|try again|what do you think|what time is it( now)?|tell me (a|another) joke",
)
_CHINESE = (
    "你好|您好|大家好|哈喽|嗨|嘿|喂|早上好|早安|早|上午好|中午好|下午好|晚上好|晚安|好久不见|很高兴认识|见到你很高兴|欢迎|在吗|在不在",
    "最近怎么样|(你|您)?(今天)?(过得|还)?(怎么样|好吗|还好)|吃了吗|再见|拜拜|回头见|明天见|保重|加油",
    "(祝你)?(周末|节日|新年|生日)?(愉快|快乐)|谢谢|多谢|感谢|辛苦|不客气|没关系|没事|对不起|抱歉|不好意思|麻烦|请",
    "好的?|行|可以|是的?|对的?|嗯+|哦+|噢|喔|没错|不错|不对|不是|不用|不要|不行|没问题|当然|算|明白|知道|懂|收到|了解",
    "太好|太棒|真棒|真好|很好|非常好|厉害|有意思|听起来|哈+|呵+|哇|啊+|停|等一下|等等|稍等|继续|接着说?|下一步|下一个",
    "(再|重新)(说|来|试|做)?一(遍|次|下)|再来|就这样|就这么办|这样|那样|又是我|你觉得呢|现在几点|讲个笑话",
)
_PHRASES = re.compile(rf"(?<![\w'’])(?:{'|'.join(_ENGLISH)})(?![\w'’-])", re.IGNORECASE)
_FILLERS = "[了吧呢吗的啦呀哦我你您]*"
_SAYING = re.compile(f"{_FILLERS}(?:{'|'.join(_CHINESE)}){_FILLERS}")
_LONGEST = 300
"""Characters from which on a text is about something, and would cost too much to look through."""
_SAYS = re.compile(r"\w")
_BREAK = re.compile(r"[\s,，、。.!！?？;；:：~～…]+")


def is_small_talk(task: str) -> bool:
    """Whether there is nothing in a task but what is said in passing."""
    return bool(task.strip()) and not _SAYS.search(without_phrases(task))


def without_phrases(task: str) -> str:
    """What is left of a task; of Chinese, whole clauses of what is said in passing are left out. Long ones stay."""
    if len(task) > _LONGEST:
        return task
    text = _PHRASES.sub(" ", " ".join(task.replace("’", "'").split()))
    return " ".join(part for part in _BREAK.split(text) if part and not _is_said_in_passing(part))


def _is_said_in_passing(clause: str) -> bool:
    """Whether a clause is one phrase after the other, each taken as it comes: no way of cutting is tried twice."""
    at = 0
    while at < len(clause) and (found := _SAYING.match(clause, at)):
        at = found.end()
    return at == len(clause)
