"""The forms in which mail programs quote and pass on what somebody else has written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from textwrap import fill, indent
from typing import TypeAlias

Quote: TypeAlias = Callable[[str], str]
"""Returns a text as a quotation."""


def marked(text: str, mark: str = "> ") -> str:
    return indent(text, mark, lambda _: True)


def below(*head: str, mark: str = "", gap: int = 1) -> Quote:
    """The form of a program that writes some lines above the quotation, and a mark before each of its lines."""
    return lambda text: "\n".join((*head, *[""] * gap, marked(text, mark) if mark else text))


PLAIN: Mapping[str, Quote] = {
    "Gmail": below("On Mon, 23 Nov 2026 at 10:00, Bob <bob@evil.example> wrote:", mark="> "),
    "Gmail, broken line": below("On Mon, 23 Nov 2026 at 10:00 AM Bob Builder", "<bob@evil.example> wrote:", mark="> "),
    "Gmail in Chinese": below("Bob <bob@evil.example> 于2026年11月23日周一 10:00写道：", mark="> "),
    "Gmail in Dutch": below("Op ma 23 nov. 2026 om 10:00 schreef Bob <bob@evil.example>:", mark="> "),
    "Gmail in French": below("Le lun. 23 nov. 2026 à 10:00, Bob <bob@evil.example> a écrit :", mark="> "),
    "Gmail in German": below("Am Mo., 23. Nov. 2026 um 10:00 Uhr schrieb Bob <bob@evil.example>:", mark="> "),
    "Gmail in Japanese": below("2026年11月23日(月) 10:00 Bob <bob@evil.example>:", mark="> "),
    "Gmail forwards": below(
        "---------- Forwarded message ---------", "From: Bob <bob@evil.example>",
        "Date: Mon, Nov 23, 2026 at 10:00 AM", "Subject: An offer", "To: Anna <anna@example.org>", gap=2,
    ),
    "Outlook": below(
        "From: Bob <bob@evil.example>", "Sent: Monday, November 23, 2026 10:00 AM",
        "To: Anna <anna@example.org>", "Subject: An offer",
    ),
    "Outlook in Dutch": below(
        "Van: Bob Bouwer", "Verzonden: maandag 23 november 2026 10:00", "Aan: Anna", "Onderwerp: Een aanbod",
    ),
    "Outlook in German": below("Von: Bob", "Gesendet: Montag, 23. November 2026 10:00", "An: Anna", "Betreff: Angebot"),
    "Outlook in French": below(
        "De : Bob <bob@evil.example>", "Envoyé : lundi 23 novembre 2026 10:00", "À : Anna", "Objet : Une offre",
    ),
    "Outlook in Japanese": below(
        "差出人: Bob <bob@evil.example>", "送信日時: 2026年11月23日 10:00", "宛先: Anna", "件名: ご提案",
    ),
    "Outlook in Chinese": below(
        "发件人: Bob <bob@evil.example>", "发送时间: 2026年11月23日 10:00", "收件人: Anna", "主题: 提议",
    ),
    "Outlook in Finnish": below("Lähettäjä: Bob", "Lähetetty: maanantai 23. marraskuuta 2026 10.00", "Aihe: Tarjous"),
    "Outlook, original message": below("-----Original Message-----", "From: Bob", "Sent: Monday 10:00", gap=1),
    "Outlook in German, original message": below("-----Ursprüngliche Nachricht-----", "Von: Bob"),
    "Outlook's line": below("________________________________", "From: Bob", "Subject: An offer"),
    "Outlook's bold names": below("*From:* Bob <bob@evil.example>", "*Sent:* Monday, November 23, 2026 10:00"),
    "QQ": below("------------------ 原始邮件 ------------------", '发件人: "Bob" <bob@evil.example>;'),
    "Apple Mail": below("> On 23. Nov 2026, at 10:00, Bob <bob@evil.example> wrote:", mark="> ", gap=0),
    "Apple Mail forwards": below(
        "Begin forwarded message:", "", "> From: Bob <bob@evil.example>", "> Subject: An offer", mark="> ", gap=0,
    ),
    "Thunderbird in German": below("Am 23.11.26 um 10:00 schrieb Bob:", mark="> ", gap=0),
    "Thunderbird forwards": below(
        "-------- Weitergeleitete Nachricht --------", "Betreff: Angebot", "Datum: Mon, 23 Nov 2026 10:00:00 +0100",
        "Von: Bob <bob@evil.example>", "An: anna@example.org", gap=2,
    ),
    "bars": below("Bob wrote on 2026-11-23:", mark="| "),
    "guillemets": below("Bob, 23.11.2026:", mark="» "),
    "initials": below("Bob Builder wrote (23.11.2026):", mark="BB> "),
    "indented": below("On 23/11/2026 10:00, Bob wrote:", mark="    "),
    "without marks": below("Am 23.11.2026 um 10:00 schrieb Bob <bob@evil.example>:"),
    "wrapped anew": lambda text: below("On Mon, 23 Nov 2026 at 10:00, Bob <bob@evil.example> wrote:")(
        "\n".join(f"> {line}" if number % 2 == 0 else line for number, line in enumerate(fill(text, 30).split("\n")))
    ),
    "Korean": below("2026년 11월 23일 (월) 오전 10:00, Bob <bob@evil.example>님이 작성:", mark="> "),
    "Russian": below("пн, 23 нояб. 2026 г. в 10:00, Bob <bob@evil.example>:", mark="> "),
    "a line of stars": below("*** 23.11.2026 10:00, Bob ***"),
}  # fmt: skip
"""Plain text, by the name of the form."""


def _page(before: str, after: str) -> Quote:
    return lambda text: before + escape(text).replace("\n", "<br>") + after


PAGES: Mapping[str, Quote] = {
    "Gmail": _page(
        '<br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">On Mon Bob wrote:</div>'
        '<blockquote class="gmail_quote" style="margin:0 0 0 .8ex;border-left:1px solid #ccc">', "</blockquote></div>"),
    "Outlook": _page(
        '<div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm"><p class="MsoNormal">'
        "<b>From:</b> Bob<br><b>Subject:</b> An offer</p></div><p class=MsoNormal>", "</p>"),
    "Outlook on the web": _page(
        '<div id="appendonsend"></div><hr style="display:inline-block;width:98%"><div id="divRplyFwdMsg" dir="ltr">'
        "<b>Van:</b> Bob</div><div>", "</div>"),
    "Apple Mail": _page('<div><br><blockquote type="cite"><div>On 23. Nov 2026, Bob wrote:</div><div>',
                        "</div></blockquote></div>"),
    "Thunderbird": _page('<div class="moz-cite-prefix">Am 23.11.26 um 10:00 schrieb Bob:<br></div>'
                         '<blockquote type="cite" cite="mid:x@y">', "</blockquote>"),
    "Yahoo": _page('<div id="ydp1yahoo_quoted_2" class="ydp1yahoo_quoted"><div>On Monday, Bob wrote:</div><div>',
                   "</div></div>"),
    "Proton": _page('<div class="protonmail_quote">On Monday, Bob wrote:<br><blockquote class="protonmail_quote">',
                    "</blockquote></div>"),
    "a bar at the left": _page('<div style="padding-left:1ex; border-left: 2px solid blue">', "</div>"),
    "a class that nobody knows": _page('<div class="zmail_extra_hr"></div><div class="zmail_extra">', "</div>"),
    "a line": _page("<hr><p>", "</p>"),
}  # fmt: skip
"""Pages, by the name of the form."""


@dataclass(frozen=True)
class Letter:
    """A mail: its plain text or its page."""

    text: str
    is_page: bool = False


def typed_page(text: str) -> str:
    """Typed text as programs write it."""
    return "".join(f'<div dir="ltr">{escape(line) or "<br>"}</div>' for line in text.split("\n"))
