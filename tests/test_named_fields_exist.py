"""A document of the command line names attributes in a text, which no type checker reads: each is there."""

import ast
from collections.abc import Iterator

from tests.sources import sources


def test_each_field_that_a_document_names_is_an_attribute_of_some_class() -> None:
    there = set(_attributes())
    named = [(source.path, name) for source in sources() for call in _calls(source.nodes) for name in call.split()]
    assert len(named) > 100, "documents are made in another way: look for their names there"
    assert [each for each in named if each[1] not in there] == []


def _calls(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="fields"), args=[_, ast.Constant(value=str() as names)]):
                yield names


def _attributes() -> Iterator[str]:
    for source in sources():
        for node in source.nodes:
            if isinstance(node, ast.ClassDef):
                for each in node.body:
                    match each:
                        case ast.AnnAssign(target=ast.Name(id=name)) | ast.FunctionDef(name=name):
                            yield name
