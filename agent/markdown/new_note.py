"""Writes new notes with python-frontmatter. A module of its own, as most commands write none and it is slow to load."""

from collections.abc import Mapping

import frontmatter as python_frontmatter
from frontmatter.default_handlers import YAMLHandler

from agent.errors import BadNote
from agent.markdown import yaml_write
from agent.markdown.note import entries, split, values_of
from agent.markdown.yaml_read import parse_header
from agent.markdown.yaml_write import Header, Value, same


def compose(header: Header, body: str) -> bytes:
    """The bytes of a new note: the keys in their order as plain YAML, a closing line, then the unchanged body.

    Raises BadNote when the header would be too long, too deeply nested, or not valid text.
    """
    post = python_frontmatter.Post(body)
    post.metadata = dict(header)
    try:
        data = python_frontmatter.dumps(post, StrictYaml()).encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadNote("the text holds half a character (a lone surrogate)", hint="remove the character") from error
    if not same(values_of(entries(split(data))), dict(header)):
        raise BadNote("the header cannot be written as YAML that reads back the same", hint="use simpler keys")
    return data


class StrictYaml(YAMLHandler):
    """The python-frontmatter handler that uses `yaml_read` and `yaml_write`."""

    def detect(self, text: str) -> bool:
        return bool(split(text.encode("utf-8", "surrogateescape")).opening)

    def split(self, text: str) -> tuple[str, str]:
        parts = split(text.encode("utf-8", "surrogateescape"))
        if not parts.opening:
            raise ValueError("no header")
        return parts.header.decode("utf-8", "surrogateescape"), parts.body.decode("utf-8", "surrogateescape")

    def load(self, fm: str, **kwargs: object) -> dict[str, Value]:
        return values_of(parse_header(fm))

    def export(self, metadata: Mapping[str, object], **kwargs: object) -> str:
        return "".join(line + "\n" for line in yaml_write.mapping(metadata))  # type: ignore[arg-type]

    def format(self, post: python_frontmatter.Post, **kwargs: object) -> str:
        body = post.content.encode("utf-8", "surrogateescape")
        bare = not post.metadata and split(body).body == body  # else the body's first lines would be parsed as a header
        return post.content if bare else f"---\n{self.export(post.metadata)}---\n{post.content}"
