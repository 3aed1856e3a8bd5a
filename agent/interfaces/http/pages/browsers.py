"""Browsers: which ones are signed in to the dashboard, and a button that signs each out."""

from collections.abc import Mapping

from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest


def show(request: PageRequest) -> Mapping[str, object]:
    """The browsers; `own` is the id of the one that asks."""
    return {"browsers": request.service.sign_in.browsers.all(), "own": request.browser}


def end(request: PageRequest) -> Done:
    """Sign one browser out, the one that asks, too."""
    request.service.sign_in.browsers.end([request.needed("id")])
    return Done(request.text("browser_ended"), "/browsers")


def end_others(request: PageRequest) -> Done:
    """Sign all browsers out but the one that asks."""
    browsers = request.service.sign_in.browsers
    browsers.end([each.id for each in browsers.all() if each.id != request.browser])
    return Done(request.text("browsers_ended"), "/browsers")


PAGE = Page("browsers", "/browsers", show, "b", under="settings", is_live=False)
DEEDS = (Deed("/browsers/end", end), Deed("/browsers/end-others", end_others))
