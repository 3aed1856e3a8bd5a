"""The documentation: all pages by topic, and a search in them; nothing is loaded from elsewhere."""

from collections.abc import Mapping

from agent.deeds.documentation import find_topic, search_topics, topics
from agent.interfaces.http.pages.page import Page, PageRequest

_MOST = 100


def show(request: PageRequest) -> Mapping[str, object]:
    """The list of topics; with words (`q`) the lines that have them."""
    words = request.field("q")
    return {
        "topics": topics(request.language),
        "q": words,
        "lines": search_topics(words, request.language)[:_MOST],
    }


def show_topic(request: PageRequest) -> Mapping[str, object]:
    """One page of it."""
    return {"topics": topics(request.language), "topic": find_topic(request.named["name"], request.language)}


PAGE = Page("documentation", "/documentation", show, "d", under="settings", is_live=False)
TOPIC = Page("documentation_topic", "/documentation/{name}", show_topic, under="documentation", is_live=False)
