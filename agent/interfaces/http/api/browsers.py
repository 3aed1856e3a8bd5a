"""The browsers and apps that are signed in, and their end."""

from typing import Annotated

import msgspec

from agent.interfaces.http.door.browsers import BrowserInfo
from agent.interfaces.http.operation import Routes
from agent.interfaces.http.service import Service

ROUTES = Routes("/api/v1/browsers")
Id = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class BrowserList(msgspec.Struct, frozen=True):
    """The browsers and apps, the last one seen first."""

    browsers: list[BrowserInfo]


class EndedBrowsers(msgspec.Struct, frozen=True):
    """The ids of the browsers that were signed out."""

    ended: list[str]


@ROUTES.get("", "The browsers that are signed in")
def list_browsers(service: Service) -> BrowserList:
    """The browsers that are signed in."""
    return BrowserList([BrowserInfo.of(each) for each in service.sign_in.browsers.all()])


@ROUTES.delete("", "Sign all browsers out")
def end_browsers(service: Service) -> EndedBrowsers:
    """Sign all browsers out."""
    browsers = service.sign_in.browsers
    ended = [each.id for each in browsers.all()]
    browsers.end(ended)
    return EndedBrowsers(ended)


@ROUTES.delete("/{id}", "Sign a browser out", 404)
def end_browser(service: Service, id: Id) -> EndedBrowsers:
    """Sign a browser out."""
    service.sign_in.browsers.end([id])
    return EndedBrowsers([id])
