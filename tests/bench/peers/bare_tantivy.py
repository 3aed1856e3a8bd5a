"""The least that a program can do with tantivy: one field of words, one document a note, its own ranking.

python bare_tantivy.py index NOTES INDEX
python bare_tantivy.py search INDEX QUERY
python bare_tantivy.py serve NOTES INDEX    a line of JSON in, one out
"""

import json
import re
import sys
from pathlib import Path

import tantivy


def index_of(place: Path) -> tantivy.Index:
    """The index in a folder, made if it is not there."""
    schema = tantivy.SchemaBuilder().add_text_field("path", stored=True, tokenizer_name="raw")
    schema = schema.add_text_field("text", tokenizer_name="default")
    place.mkdir(parents=True, exist_ok=True)
    return tantivy.Index(schema.build(), str(place))


def write(index: tantivy.Index, notes: Path, paths: list[str]) -> None:
    """Index these notes anew."""
    writer = index.writer()
    for path in paths:
        writer.delete_documents("path", path)
        writer.add_document(tantivy.Document(path=path, text=(notes / path).read_text("utf-8", "replace")))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()


def search(index: tantivy.Index, query: str) -> list[str]:
    """The paths of ten notes, the best first."""
    searcher = index.searcher()
    parsed = index.parse_query(" ".join(re.findall(r"\w+", query)) or "a", ["text"])
    return [searcher.doc(address)["path"][0] for _, address in searcher.search(parsed, 10).hits]


def main(what: str, *places: str) -> None:
    """Do what the command line asks."""
    if what == "search":
        sys.stdout.write(json.dumps(search(index_of(Path(places[0])), places[1])) + "\n")
        return
    notes, index = Path(places[0]), index_of(Path(places[1]))
    if what == "index":
        write(index, notes, [path.relative_to(notes).as_posix() for path in notes.rglob("*.md")])
        return
    for line in sys.stdin:
        asked = json.loads(line)
        if "save" in asked:
            write(index, notes, [asked["save"]])
        sys.stdout.write(json.dumps(search(index, asked["query"])) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
