"""Formulas of notes, as LaTeX between `$` or `$$`, as MathML, which browsers show by themselves.

The library's tree is written anew with the elements and attributes that are known to be harmless: its own text leaves a
stranger's markup and addresses as they are. What it cannot read is shown as it is written.
"""

from collections.abc import Iterator
from html import unescape
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from markupsafe import Markup, escape

from agent.lazy import later

if TYPE_CHECKING:
    from latex2mathml.converter import convert_to_element
else:  # few notes have a formula
    convert_to_element = later("latex2mathml.converter", "convert_to_element")

_LONGEST = 2_000
"""Characters of a formula that is read; a longer one is shown as it is written."""
_ELEMENTS = """
    math mrow mi mn mo mtext mspace ms mfrac msqrt mroot mstyle mpadded mphantom menclose msub msup msubsup munder mover
    munderover mmultiscripts mtable mtr mtd
"""
_ATTRIBUTES = """
    display mathvariant stretchy fence form separator lspace rspace linethickness columnalign rowspacing columnspacing
    columnlines rowlines accent accentunder movablelimits minsize maxsize width height depth notation displaystyle
    scriptlevel
"""


def formula_html(latex: str, *, is_block: bool) -> Markup:
    """A formula as HTML; never raises."""
    try:
        if len(latex) > _LONGEST:
            raise ValueError("too long")
        return Markup("").join(_written(convert_to_element(latex, display="block" if is_block else "inline")))
    except Exception:  # noqa: BLE001 - the library fails in many ways, and what a person wrote is shown in any case
        return Markup("<code>{}</code>").format(latex)


def _written(element: Element) -> Iterator[Markup]:
    is_known = element.tag in _ELEMENTS.split()
    if is_known:
        allowed = {name: value for name, value in element.attrib.items() if name in _ATTRIBUTES.split()}
        attributes = Markup("").join(Markup(' {}="{}"').format(*each) for each in allowed.items())
        yield Markup("<{}{}>").format(Markup(element.tag), attributes)
    yield escape(unescape(element.text or ""))
    for each in element:
        yield from _written(each)
        yield escape(unescape(each.tail or ""))
    if is_known:
        yield Markup("</{}>").format(Markup(element.tag))
