"""Finds secrets in text, by their form or because they are known, so that no commit stores one.

Every pattern takes linear time: fixed starts, bounded repeats, no two neighbours that match the same text. The secret
itself is never returned.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

from agent.config.masking import HIDDEN_IN_NOTES, KnownSecrets
from agent.dataclass import dataclass

EXCUSE = "vault-agent: allow-secret"
"""In an HTML or `%%` comment on the same line, this marks a secret that a person has checked and allows."""

_EXCUSED = re.compile(rf"(?:<!--|%%)[ \t]{{0,20}}{EXCUSE}")

_PATTERNS = (
    ("private key", r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"),
    ("AWS access key", r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])"),
    (
        "GitHub token",
        r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{50})",
    ),
    ("GitLab token", r"(?<![A-Za-z0-9])gl(?:pat|dt|rt|cbt|ptt|soat)-[A-Za-z0-9_-]{20}"),
    ("Slack token", r"(?<![A-Za-z0-9])xox[abeoprs]-(?:[0-9]{1,4}-)?[A-Za-z0-9-]{20}"),
    ("Slack webhook", r"hooks\.slack\.com/services/T[A-Z0-9]{6,14}/B[A-Z0-9]{6,14}/[A-Za-z0-9]{20}"),
    ("Anthropic key", r"(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{24}"),
    ("OpenAI key", r"(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-)[A-Za-z0-9_-]{32}"),
    ("OpenAI key", r"(?<![A-Za-z0-9])sk-[A-Za-z0-9]{32}"),
    ("Google API key", r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("Google client secret", r"(?<![A-Za-z0-9])GOCSPX-[A-Za-z0-9_-]{28}"),
    ("Stripe key", r"(?<![A-Za-z0-9])[rs]k_live_[A-Za-z0-9]{24}"),
    ("Hugging Face token", r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{34}"),
    (
        "JSON Web Token",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10}",
    ),
)

_STARTS = re.compile(
    r"PRIVATE KEY|AKIA|ASIA|gh[pousr]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt|soat)-|xox[abeoprs]-|hooks\.slack|sk-|AIza"
    r"|GOCSPX-|[rs]k_live_|hf_|eyJ|(?i:passw|passphrase|secret|token|api[ _-]?key|access[ _-]?key)|密码|口令"
)
"""Text that every match contains; one quick search in a whole note is usually enough."""

_KEY_BLOCK = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:.{0,20000}?-----END [A-Z0-9 ]{0,80}-----|[A-Za-z0-9+/=\s\\]{0,20000})",
    re.DOTALL,
)
"""A private key block with its lines, to its end if there is one."""

_NAMED = re.compile(
    r"(?i:password|passwd|passphrase|secret|token|api[ _-]?key|access[ _-]?key|密码|口令)"
    r"[A-Za-z0-9_\"'*`-]{0,16}[ \t]{0,8}[:=：][ \t]{0,8}[\"'`*]{0,3}"
    r"([^\s\"'`<>\[\]{}()|,;*]{8,200})"
)
_TOLD = re.compile(
    r"(?i:password|passwd|passphrase|secret|token|api[ _-]?key|access[ _-]?key|密码|口令)"
    r"(?P<says>[ \t]{1,4}(?i:is|was)\b|[ \t]{0,4}[是为])?[ \t]{0,8}[\"'`*]{0,3}"
    r"(?P<value>[!#-&+\-./0-9:=?@A-Z\\^_a-z~]{8,200})"
)
"""The same as people tell it: "my password is …", "密码…"."""
_LEAST_BITS = 3.0
"""Entropy in bits per character; from this value on, a word with a digit counts as a generated key or password."""

_LONGEST_LINE = 20_000


@dataclass(frozen=True, slots=True)
class Finding:
    """The line of a secret, from 1, and its kind; never the secret itself."""

    line: int
    kind: str


def find(text: str) -> list[Finding]:
    """The lines that seem to hold a secret, each kind once per line; excused lines are left out."""
    if not _STARTS.search(text):
        return []
    found: list[Finding] = []
    for number, line in enumerate(text.split("\n"), 1):
        if _STARTS.search(line) and not _EXCUSED.search(line):
            kinds = dict.fromkeys(kind for part in _parts(line) for kind in _kinds(part))
            found += [Finding(number, kind) for kind in kinds]
    return found


def introduced(before: bytes, after: bytes) -> list[str]:
    """The kinds of secrets that `after` has more often than `before`."""
    known = Counter(finding.kind for finding in find(before.decode("utf-8", "replace")))
    wanted = Counter(finding.kind for finding in find(after.decode("utf-8", "replace")))
    return sorted(wanted - known)


def without_secrets(text: str, known: KnownSecrets) -> str:
    """The text with `[secret]` in place of every known value and of everything that `find` would report.

    Only for text that the program writes itself. Persons' notes, and text that a tool writes into them, are never
    changed.
    """
    return masked(known.mask(text, HIDDEN_IN_NOTES))


def masked(text: str) -> str:
    """The text with `[secret]` in place of everything that `find` would report."""
    if not _STARTS.search(text):
        return text
    text = _KEY_BLOCK.sub(HIDDEN_IN_NOTES, text)
    return "\n".join(_mask(line) if _STARTS.search(line) else line for line in text.split("\n"))


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The patterns with their kinds, made when a text has the start of one: most commands meet none."""
    return tuple((kind, re.compile(pattern)) for kind, pattern in _PATTERNS)


@cache
def _whole_patterns() -> tuple[re.Pattern[str], ...]:
    """The same up to the end of the key: a pattern itself matches only enough to recognise one."""
    return tuple(re.compile(pattern + r"[A-Za-z0-9_+/=.~-]{0,4000}") for _, pattern in _PATTERNS)


def _mask(line: str) -> str:
    if _EXCUSED.search(line) or not any(any(_kinds(part)) for part in _parts(line)):
        return line
    for pattern in _whole_patterns():
        line = pattern.sub(HIDDEN_IN_NOTES, line)
    for pattern in (_NAMED, _TOLD):
        line = pattern.sub(lambda found: _hidden(found) if _is_secret(found) else found[0], line)
    return line


def _hidden(found: re.Match[str]) -> str:
    value = found[found.re.groups]
    return found[0].replace(value, HIDDEN_IN_NOTES)


def _is_secret(found: re.Match[str]) -> bool:
    """True if the value after the name of a secret looks like one; where no colon says that it is the value, it has
    lower and upper case and digits, and without a verb another character besides."""
    value = found[found.re.groups]
    if found.re is _TOLD:
        has = [any(map(kind, value)) for kind in (str.islower, str.isupper, str.isdigit)]
        if not all(has) or (found["says"] is None and value.rstrip(".:?!").isalnum()):
            return False
    return _looks_random(value)


def _parts(line: str) -> Iterator[str]:
    """The line; a very long one in overlapping pieces."""
    if len(line) <= _LONGEST_LINE:
        yield line
        return
    for start in range(0, len(line), _LONGEST_LINE // 2):
        yield line[start : start + _LONGEST_LINE]


def _kinds(line: str) -> Iterator[str]:
    for kind, pattern in _patterns():
        if pattern.search(line):
            yield kind
    if any(_is_secret(found) for pattern in (_NAMED, _TOLD) for found in pattern.finditer(line)):
        yield "password or key"


def _looks_random(value: str) -> bool:
    """True if a value looks random, not like a word, a link, a reference to a secret or a row of dots."""
    if "://" in value or value.startswith(("env:", "keyring:", "$", "%", "/", "~", ".")):
        return False
    kinds = sum((any(c.isdigit() for c in value), any(c.isalpha() for c in value), any(not c.isalnum() for c in value)))
    return kinds >= 2 and any(c.isdigit() for c in value) and _entropy(value) >= _LEAST_BITS and not _is_date(value)


def _is_date(value: str) -> bool:
    return re.fullmatch(r"[0-9]{1,4}[-/.:][0-9]{1,2}[-/.:T][0-9:.+Z-]{1,24}", value) is not None


def _entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())
