"""The parts of a commit message: subject, body, and the trailers at its end, which name the actor and the run."""

import re

HUMAN = "human"
"""The actor of a commit without trailers."""

_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*:(.*)")
_COMMIT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def is_commit_id(text: str) -> bool:
    """True if the text is a full commit id."""
    return _COMMIT_ID.fullmatch(text) is not None


def parse_message(message: str) -> tuple[str, str, list[tuple[str, str]]]:
    """A message as (subject, body, trailers with names in lower case).

    Trailers count only in a last paragraph that has nothing else, and never in the first paragraph.
    """
    paragraphs = [part for part in re.split(r"\n(?:[ \t]*\n)+", message.strip("\n")) if part.strip()]
    if not paragraphs:
        return "", "", []
    trailers = _trailers(paragraphs[-1]) if len(paragraphs) > 1 else []
    body = paragraphs[1:-1] if trailers else paragraphs[1:]
    return " ".join(paragraphs[0].split()), "\n\n".join(body), trailers


def _trailers(paragraph: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for line in paragraph.split("\n"):
        match = _TRAILER.fullmatch(line)
        if match:
            found.append((match[1].lower(), match[2].strip()))
        elif line[:1] in {" ", "\t"} and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        elif not line.startswith("(cherry picked from commit "):
            return []
    return found
