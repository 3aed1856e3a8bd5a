"""The values of the dashboard: a page, a deed (what a button does), and the request that both are given."""

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from types import MappingProxyType

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.interfaces.http.service import Service
from agent.texts import Language, text, translated
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class PageRequest:
    """One request of a browser. `named` are the parts of the path that the route names, `values` the fields of the
    query or of the form; a field that was not sent is the empty text. `browser` is the id of the one that is signed in,
    empty for a program with the token."""

    service: Service
    language: Language
    url: str
    named: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    values: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    browser: str = ""

    @property
    def workspace(self) -> Workspace:
        return self.service.workspace

    @property
    def own_vault(self) -> Vault:
        """The vault with its private notes, for a browser of the owner; without them for a program."""
        vault = self.service.workspace.vault
        return vault.whole if self.browser else vault

    @property
    def now(self) -> datetime:
        return self.service.workspace.clock.now()

    def field(self, name: str) -> str:
        """A field of the query or the form, without blanks around it."""
        return self.values.get(name, "").strip()

    def needed(self, name: str) -> str:
        """The same; raises `UserError` for an empty one."""
        value = self.field(name)
        if not value:
            raise UserError("the field {name} is empty", hint="fill it in and send it again", name=name)
        return value

    def text(self, key: str, /, **values: object) -> str:
        """A sentence of the pages in the language of the reader."""
        return text(f"pages.{key}", self.language, **values)

    def tr(self, sentence: str) -> str:
        """A sentence of the program in the language of the reader."""
        return translated(sentence, self.language)


@dataclass(frozen=True, slots=True)
class Page:
    """One page. `name` is the name of its template and of its title (`pages.NAME`).

    `show` gives the values of the template; it runs in a thread, and raises errors of the program, which are shown as
    a page. The keys g and the `letter` go to a page that has one: it stands in the navigation, or as a tab of the page
    of this name there that it is `under`. `is_live`: the open page is made again when something happens in the vault.
    `scripts` are further files that it loads.
    """

    name: str
    path: str
    show: Callable[[PageRequest], Mapping[str, object]]
    letter: str = ""
    under: str = ""
    is_live: bool = True
    scripts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """What a deed has come to: a sentence for the person, and the address to go on at (empty: the same page)."""

    sentence: str
    go: str = ""


@dataclass(frozen=True, slots=True)
class Deed:
    """What a button does: a POST to `path`. It raises errors of the program, which are shown to the person: in the open
    page by the template `refused`, which is given the `error`."""

    path: str
    do: Callable[[PageRequest], Done]
    refused: str = "message.html"
