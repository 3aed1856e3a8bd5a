"""A page of a few sentences that loads no file: for a browser that is not signed in, which gets no file of ours."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import escape

from starlette.responses import HTMLResponse

from agent.texts import Language

_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.6 system-ui,sans-serif;max-width:36rem;margin:12vh auto;padding:0 1.25rem;overflow-wrap:anywhere}"
    "h1{font-size:1.6rem;line-height:1.25}"
)
_POLICY = (
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
    f"style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
)
"""What the page may do: be drawn in this one style."""


def plain_page(
    title: str,
    sentences: Iterable[str],
    language: Language,
    headers: Mapping[str, str],
    status: int = 200,
    *,
    onward: str = "",
) -> HTMLResponse:
    """The page as a response; with `onward` the browser goes on to that address, by a link if not by itself."""
    page = page_text(title, sentences, language, onward=onward)
    return HTMLResponse(page, status, {**headers, "Content-Security-Policy": _POLICY})


def page_text(title: str, sentences: Iterable[str], language: Language, *, onward: str = "") -> str:
    """The page as HTML."""
    refresh = f'<meta http-equiv="refresh" content="0; url={escape(onward)}">' if onward else ""
    heading = f'<a href="{escape(onward)}">{escape(title)}</a>' if onward else escape(title)
    words = "".join(f"<p>{escape(each)}</p>" for each in sentences if each)
    return (
        f'<!doctype html><html lang="{"zh-CN" if language == "zh" else language}"><head><meta charset="utf-8">{refresh}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)} · vault-agent</title><style>{_STYLE}</style></head>"
        f"<body><main><h1>{heading}</h1>{words}</main></body></html>"
    )
