"""The channel that a wish for a job names, such as `and send it by mail` or `并发到邮箱`. Pure."""

import re
from functools import cache

from agent.config.resources import pattern, patterns
from agent.schedule.job_header import begins_as_wish


def without_channel(words: str) -> tuple[str, str]:
    """The wish without the words about its channel, and the channel's name; empty if it names none. A wish to be
    reminded may be to send something to somebody: there the words count only if they speak of the person."""
    for each in _wishes():
        found = each.search(words)
        if found is None:
            continue
        around = words[max(0, found.start() - 3) : found.end() + 4]
        if not begins_as_wish(words) or pattern("sent_to_person").search(around):
            left = words[: found.start()] + words[found.end() :]
            return left.lstrip(" ,，、;；"), _names()[found["channel"].casefold()]
    return words, ""


@cache
def _names() -> dict[str, str]:
    """The names of channels, by each word for one."""
    rows = (each.pattern.split() for each in patterns("channel_words"))
    return {word: row[0] for row in rows for word in row}


@cache
def _wishes() -> tuple[re.Pattern[str], ...]:
    words = "|".join(map(re.escape, sorted(_names(), key=len, reverse=True)))
    return tuple(re.compile(each.pattern.replace("CHANNEL", words), re.IGNORECASE) for each in patterns("sent_by"))
