"""A local server that takes the JSON that the library Apprise posts, through the library itself."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from agent.attention.channels.apprise import Apprise
from agent.llm.messages import text
from tests.attention.rigs.rig import Rig, Shown
from tests.attention.servers import Answered, Called, Fault, LocalService, local_service

PASSWORD = "hush-hush-apprise-1234567"


@dataclass
class Taker:
    """What the server does: refuse who has not logged in."""

    password: str = PASSWORD
    taken: list[Shown] = field(default_factory=list)

    def __call__(self, called: Called) -> Answered:
        wanted = "Basic " + b64encode(f"me:{self.password}".encode()).decode()
        if called.headers.get("authorization") != wanted:
            return Answered(401, {"error": f"not {self.password}"})
        document = called.document
        self.taken.append(Shown(f"{text(document['title'])}\n{text(document['message'])}"))
        return Answered(200, {})


@dataclass
class AppriseRig:
    channel: Apprise
    server: LocalService
    taker: Taker
    secrets: tuple[str, ...] = (PASSWORD,)
    limit: int = 0
    asks_to_wait: bool = False
    tells_a_wrong_key: bool = False
    faults: frozenset[Fault] = frozenset({"busy", "broken", "silent", "cut", "cut after"})
    """A page, a wrong answer and a redirection are the library's to judge: all that comes back of it is yes or no."""

    def shown(self) -> Sequence[Shown]:
        return self.taker.taken

    def misbehave(self, *faults: Fault) -> None:
        self.server.faults.extend(faults)

    def change_key(self) -> None:
        self.taker.password = "another-secret-000"

    def calls(self) -> int:
        return len(self.server.calls)

    def sent_on(self) -> int:
        return len(self.server.elsewhere)


@contextmanager
def apprise_rig() -> Iterator[Rig]:
    taker = Taker()
    with local_service(taker) as server:
        url = f"json://me:{PASSWORD}@127.0.0.1:{server.port}/notify?rto=0.3&cto=0.3"
        yield AppriseRig(Apprise(url, "en"), server, taker)
