"""Parses the header `Authentication-Results` (RFC 8601): what a mail server has found out about a mail's sender.

Strict, as the result decides whose words these are: a header that breaks the grammar in one place says nothing at all.
"""

import re
from collections.abc import Sequence

from agent.dataclass import dataclass

_MOST = 20_000
"""The most characters of a header; a longer one is not looked at."""
_DEEPEST = 10
"""The most comments within each other."""
_KEYWORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?", re.ASCII)
"""The grammar has no underscore in it, but servers write it, as in `policy.is_org`."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`{|}~0-9A-Za-z-]+", re.ASCII)
_PROPERTY = re.compile(r"[!#$%&'*+./:=?@^_`{|}~0-9A-Za-z-]+", re.ASCII)
"""A token, an address or a domain. `/`, `:`, `=` and `?` are not in the grammar, but servers write them, as in the
beginning of a signature; none of them ends a value."""
_QUOTED = re.compile(r'"((?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[ -~\t])*)"')
_SPACE = re.compile(r"(?:[ \t]|\r?\n(?=[ \t]))+")
_COMMENT = re.compile(r"[^()\\\x00-\x08\x0a-\x1f\x7f]|\\[ -~\t]|\r?\n(?=[ \t])")


@dataclass(frozen=True, slots=True)
class MethodResult:
    """The finding of one method: `method` such as `dmarc`, `result` such as `pass`, both in small letters; `properties`
    have names such as `header.from`, in small letters, and come in their order."""

    method: str
    result: str
    properties: Sequence[tuple[str, str]] = ()

    def values(self, name: str) -> frozenset[str]:
        """The values of a property, in small letters."""
        return frozenset(value.lower() for each, value in self.properties if each == name)


@dataclass(frozen=True, slots=True)
class AuthenticationResults:
    """A header: `server` is who claims to have added it (authserv-id), in small letters."""

    server: str
    results: Sequence[MethodResult] = ()


class _Broken(Exception):
    """The header breaks the grammar."""


def parse_authentication_results(header: str) -> AuthenticationResults | None:
    """The header's content, which may be folded; None if it breaks the grammar or has a version that is not 1."""
    if len(header) > _MOST or not header.isascii():
        return None
    try:
        return _Reader(header).read()
    except _Broken:
        return None


class _Reader:
    """Reads a header from its beginning to its end."""

    def __init__(self, header: str) -> None:
        self._header, self._at = header, 0

    def read(self) -> AuthenticationResults:
        self._skip()
        server = self._value(_TOKEN).lower()
        if self._skip() and (version := self._found(_TOKEN)) is not None:
            if version != "1":
                raise _Broken
            self._skip()
        results: list[MethodResult] = []
        self._expect(";")
        self._skip()
        if self._is_none():
            return AuthenticationResults(server)
        while True:
            results.append(self._method_result())
            if self._is_at_end():
                return AuthenticationResults(server, tuple(results))
            self._expect(";")
            self._skip()
            if self._is_at_end():  # some servers end with a semicolon
                return AuthenticationResults(server, tuple(results))

    def _is_none(self) -> bool:
        """True if the rest says that no method was used."""
        before = self._at
        if (self._found(_KEYWORD) or "").lower() == "none":
            self._skip()
            if self._is_at_end():
                return True
        self._at = before
        return False

    def _method_result(self) -> MethodResult:
        method = self._keyword()
        self._skip()
        if self._took("/"):
            self._skip()
            if self._keyword() != "1":
                raise _Broken
            self._skip()
        self._expect("=")
        self._skip()
        result = self._keyword()
        properties: list[tuple[str, str]] = []
        while not self._is_at_end() and self._header[self._at] != ";":
            if not self._skip():
                raise _Broken
            if self._is_at_end() or self._header[self._at] == ";":
                break
            properties.append(self._property())
        return MethodResult(method, result, tuple(properties))

    def _property(self) -> tuple[str, str]:
        """A property such as `header.from=example.org`. Without a point it is `reason=…`, or what a server adds of
        its own, such as `action=none`."""
        name = self._keyword()
        self._skip()
        if self._took("."):
            self._skip()
            name = f"{name}.{self._keyword()}"
            self._skip()
        self._expect("=")
        self._skip()
        value = self._found(_QUOTED)
        if value is None:
            return name, self._value(_PROPERTY)
        local = re.sub(r"\\(.)", r"\1", value[1:-1])
        if self._header[self._at : self._at + 1] == "@":  # an address whose first part is quoted
            return name, f"{local}{self._value(_PROPERTY)}"
        return name, local

    def _value(self, form: re.Pattern[str]) -> str:
        """A token or a quoted string."""
        quoted = self._found(_QUOTED)
        if quoted is not None:
            return re.sub(r"\\(.)", r"\1", quoted[1:-1])
        found = self._found(form)
        if found is None:
            raise _Broken
        return found

    def _keyword(self) -> str:
        found = self._found(_KEYWORD)
        if found is None:
            raise _Broken
        return found.lower()

    def _found(self, form: re.Pattern[str]) -> str | None:
        found = form.match(self._header, self._at)
        if found is None:
            return None
        self._at = found.end()
        return found[0]

    def _took(self, sign: str) -> bool:
        if self._header.startswith(sign, self._at):
            self._at += len(sign)
            return True
        return False

    def _expect(self, sign: str) -> None:
        if not self._took(sign):
            raise _Broken

    def _is_at_end(self) -> bool:
        return self._at == len(self._header)

    def _skip(self) -> bool:
        """Go past spaces and comments; True if there were any."""
        before = self._at
        while self._found(_SPACE) is not None or self._took_comment():
            pass
        return self._at > before

    def _took_comment(self) -> bool:
        if not self._took("("):
            return False
        depth = 1
        while depth:
            if self._took("("):
                depth += 1
            elif self._took(")"):
                depth -= 1
            elif self._found(_COMMENT) is None:
                raise _Broken
            if depth > _DEEPEST:
                raise _Broken
        return True
