"""What answers a person whose model fails before it has said or done anything in their run."""

import logging
from dataclasses import replace

from agent.dataclass import dataclass
from agent.errors import AgentError, LockHeld, Permanent, Retryable, Stopping, UserError
from agent.llm.messages import Cancelled, Model, OnText, Provider, Reply, Request, ignore, never
from agent.loop.agent import Models
from agent.loop.records import RunRequest
from agent.loop.session import Session

NO_ANSWER = (Retryable, Permanent, UserError)
"""The errors of a model that does not answer: no limit, no stop."""

logger = logging.getLogger(__name__)


def with_stand_in(models: Models, failure: AgentError, asked: RunRequest, session: Session, run: str) -> Models:
    """The models with the stand-in as the main one, for the rest of the run; raises the failure where nothing stands
    in: in sub-runs and work that no person waits for, and once the model has said or done something."""
    is_persons = "." not in run and not asked.job and not asked.purpose
    is_passing = isinstance(failure, LockHeld | Stopping)
    if models.stand_in is None or not is_persons or is_passing or session.said_by_model(run):
        raise failure
    return replace(models, main=_StandIn(models.stand_in, failure), stand_in=None, failure=failure)


@dataclass(frozen=True, slots=True)
class _StandIn:
    """A `Provider` that raises the model's failure if it cannot answer either."""

    provider: Provider
    failure: AgentError

    @property
    def model(self) -> Model:
        return self.provider.model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """What the stand-in answers."""
        try:
            return self.provider.chat(request, on_text, cancelled)
        except (AgentError, OSError) as error:
            logger.warning("nothing could be quoted in place of an answer: %s", error)
            raise self.failure from None
