"""Whether the person's own mail server vouches for the sender of a mail.

Anybody can write any sender, and any header, into a mail. What nobody else can write is the line that the receiving
server puts above all others that came with it: `Authentication-Results`, with the server's name. So only the topmost
one counts, only with the name that the person has set, and only if it vouches for the very domain of the one sender
that the mail names. A mail that programs could read in more than one way is vouched for by nobody.
"""

import re
from collections.abc import Sequence

from agent.attention.channels.authentication_results import MethodResult, parse_authentication_results

_MOST_HEAD = 200_000
"""The most bytes before the text of a mail."""
_HEADER = re.compile(rb"([!-9;-~]+):(.*)", re.ASCII | re.DOTALL)
_ADDRESS = r"([!#$%&'*+./0-9=?A-Z^_`a-z{|}~-]+@[0-9a-z.-]+)"
_NAME = r"(?:[^\"<>@,;:()\[\]\\\x00-\x1f\x7f]|\"(?:[^\"\\\x00-\x1f\x7f]|\\[ -~])*\")*"
_SENDER = re.compile(rf"{_NAME}<{_ADDRESS}>|{_ADDRESS}", re.ASCII | re.IGNORECASE)
"""A name, if any, and an address in angle brackets; or an address. No comments, no groups, no routes: what programs
understand in different ways."""
_NO_POLICY = frozenset({"none"})
"""What DMARC finds for a domain that has published nothing; then a signature of the domain itself counts."""


def vouched_sender(mail: bytes, verified_by: str) -> str:
    """The address, in small letters, of the mail's one sender if the server with this name vouches for it; else empty.

    `mail` begins with the first header. `verified_by` is the server's authserv-id; empty: nobody is vouched for.
    """
    headers = _headers(mail)
    if headers is None or not verified_by:
        return ""
    senders = [value for name, value in headers if name == "from"]
    claims = [value for name, value in headers if name == "authentication-results"]
    if len(senders) != 1 or not claims:
        return ""
    sender = _address(senders[0])
    claim = parse_authentication_results(claims[0])
    if not sender or claim is None or claim.server != verified_by.strip().lower():
        return ""
    return sender if _is_passed(claim.results, sender.rpartition("@")[2]) else ""


def _is_passed(results: Sequence[MethodResult], domain: str) -> bool:
    """True if DMARC passed for the domain; or, where it says nothing, if there is a good signature of the domain."""
    dmarc = [each for each in results if each.method == "dmarc"]
    if len(dmarc) > 1:
        return False
    if dmarc and dmarc[0].result not in _NO_POLICY:
        return dmarc[0].result == "pass" and _domains(dmarc[0], "header.from") == {domain}
    return any(_is_signed_by(each, domain) for each in results)


def _is_signed_by(result: MethodResult, domain: str) -> bool:
    if (result.method, result.result) != ("dkim", "pass"):
        return False
    return _domains(result, "header.d") | _domains(result, "header.i") == {domain}


def _domains(result: MethodResult, name: str) -> frozenset[str]:
    return frozenset(each.rpartition("@")[2] for each in result.values(name))


def _headers(mail: bytes) -> list[tuple[str, str]] | None:
    """Names in small letters, and values as they are written; None if the head is not plain beyond doubt.

    A lone CR, a NUL and mixed ends of lines are read differently by different programs.
    """
    start = mail[:_MOST_HEAD]
    newline = b"\r\n" if b"\r\n" in start else b"\n"
    head, end, _ = start.partition(newline * 2)
    if not end or re.search(rb"[\r\n\x00]", head.replace(newline, b"")):
        return None
    found: list[tuple[str, str]] = []
    for line in re.split(rb"\n(?![ \t])", head.replace(newline, b"\n")):
        parts = _HEADER.fullmatch(line)
        if parts is None:
            return None
        found.append((parts[1].decode("ascii").lower(), parts[2].decode("utf-8", "replace")))
    return found


def _address(header: str) -> str:
    """The one address of a header in small letters; empty if there may be more, or none."""
    found = _SENDER.fullmatch(re.sub(r"\n[ \t]", " ", header).strip(" \t"))
    if found is None:
        return ""
    address = (found[1] or found[2]).lower()
    return "" if "=?" in address else address
