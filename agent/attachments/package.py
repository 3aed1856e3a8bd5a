"""The files of a package (a ZIP archive): office documents and books, unpacked in memory with limits."""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator

from lxml import etree

from agent.attachments.limits import LARGEST_PART, MOST_UNPACKED, Unreadable
from agent.dataclass import dataclass

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How old office files begin, and new ones that are encrypted."""
_ENCRYPTED = 1


@dataclass(slots=True)
class Package:
    """An open package; `left` is how many bytes may still be unpacked."""

    archive: zipfile.ZipFile
    left: int = MOST_UNPACKED

    def data(self, name: str) -> bytes | None:
        """The bytes of a file in it; None if there is none. Raises `Unreadable` if it is encrypted or too large."""
        try:
            info = self.archive.getinfo(name.lstrip("/"))
        except KeyError:
            return None
        if info.flag_bits & _ENCRYPTED:
            raise Unreadable("it is locked with a password")
        most = min(LARGEST_PART, self.left)
        try:
            with self.archive.open(info) as file:
                found = file.read(most + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            raise Unreadable("it is damaged") from error
        if len(found) > most:
            raise Unreadable("unpacked, it is far too large")
        self.left -= len(found)
        return found

    def xml(self, name: str) -> etree._Element | None:
        """The root of an XML file in it; None if there is none, or it cannot be parsed."""
        data = self.data(name)
        if data is None:
            return None
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        try:
            return etree.fromstring(data, parser)
        except etree.XMLSyntaxError:
            return None

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """What a file in it refers to, by id: the kind, and the name in the package."""
        folder, file = posixpath.split(name)
        root = self.xml(f"{folder}/_rels/{file}.rels")
        found = {}
        for each in children(root):
            if each.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, each.get("Target", ""))).lstrip("/")
                found[each.get("Id", "")] = (each.get("Type", "").rpartition("/")[2], target)
        return found

    def document(self, usual: str, problem: str) -> tuple[etree._Element, dict[str, tuple[str, str]]]:
        """The root of the document itself, and what it refers to (`related`); raises `Unreadable` with this problem."""
        name = next((name for kind, name in self.related("").values() if kind == "officeDocument"), usual)
        root = self.xml(name)
        if root is None:
            raise Unreadable(problem)
        return root, self.related(name)


def open_package(data: bytes) -> Package:
    """The package in these bytes; raises `Unreadable` if it is none."""
    if data.startswith(_OLE):
        raise Unreadable("it is locked with a password, or of an old format: save it anew as docx, xlsx or pptx")
    try:
        return Package(zipfile.ZipFile(io.BytesIO(data)))
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, NotImplementedError) as error:
        raise Unreadable("it is damaged, or not what its name says") from error


def name_of(element: etree._Element | None) -> str:
    """The name of an element without its namespace; empty for a comment, and for none."""
    if element is None:
        return ""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def children(element: etree._Element | None, *names: str) -> Iterator[etree._Element]:
    """The children of an element, those with one of these names if any is given."""
    for each in element if element is not None else ():
        if name_of(each) and (not names or name_of(each) in names):
            yield each


def descendants(element: etree._Element | None, *names: str) -> Iterator[etree._Element]:
    """All elements with one of these names in an element, in order."""
    for each in element.iter() if element is not None else ():
        if name_of(each) in names:
            yield each


def attribute(element: etree._Element | None, name: str) -> str:
    """The value of an attribute whatever its namespace; empty if there is none."""
    found = element.attrib.items() if element is not None else ()
    return next((str(value) for key, value in found if str(key).rpartition("}")[2] == name), "")


def relation(element: etree._Element) -> str:
    """The id of what an element refers to; empty if it refers to nothing."""
    return next((str(value) for key, value in element.attrib.items() if str(key).endswith("}id")), "")
