"""Browsers and apps: which ones are signed in, a button that signs each out, and one that makes a pairing code."""

from collections.abc import Mapping

from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest


def show(request: PageRequest) -> Mapping[str, object]:
    """The browsers; `own` is the id of the one that asks, `code` the pairing code that counts, `address` where an app
    shows it."""
    sign_in = request.service.sign_in
    urls = request.service.urls()
    return {
        "browsers": sign_in.browsers.all(),
        "own": request.browser,
        "code": sign_in.pairing.current(),
        "address": urls[0] if urls else "",
    }


def end(request: PageRequest) -> Done:
    """Sign one browser out, the one that asks, too."""
    request.service.sign_in.browsers.end([request.needed("id")])
    return Done(request.text("browser_ended"), "/browsers")


def end_others(request: PageRequest) -> Done:
    """Sign all browsers out but the one that asks."""
    browsers = request.service.sign_in.browsers
    browsers.end([each.id for each in browsers.all() if each.id != request.browser])
    return Done(request.text("browsers_ended"), "/browsers")


def pair(request: PageRequest) -> Done:
    """Make a pairing code, which the page shows as long as it counts."""
    request.service.sign_in.pairing.make()
    return Done(request.text("pairing_made"), "/browsers")


PAGE = Page("browsers", "/browsers", show, "b", under="settings", is_live=False)
DEEDS = (Deed("/browsers/end", end), Deed("/browsers/end-others", end_others), Deed("/browsers/pair", pair))
