"""A snapshot says of each file what was recorded of it last, and a burst of saves leaves no object in it."""

import gc
from hashlib import sha1, sha256

from hypothesis import given
from hypothesis import strategies as st

from agent.watch.snapshot import FileStat, KnownFile, Snapshot

PATHS = st.sampled_from(["a.md", "b.md", "d/c.md", "d.md", "film.mp4"])
HASHES = st.sampled_from(
    [sha1(b"x").hexdigest(), sha1(b"y").hexdigest(), sha256(b"x").hexdigest(), "", "look:12:34", "AB" * 20, "a" * 39]
)
NUMBERS = st.integers(0, 2**63 - 1)
LOOKS = st.builds(FileStat, NUMBERS, st.integers(-(2**63), 2**63 - 1), NUMBERS, st.integers(0, 2**64 - 1))
SEEN = st.builds(KnownFile, HASHES, LOOKS | st.none())


@given(st.dictionaries(PATHS, SEEN), st.lists(st.tuples(PATHS, SEEN | st.none())), st.dictionaries(PATHS, LOOKS))
def test_it_is_what_was_put_into_it(
    first: dict[str, KnownFile], later: list[tuple[str, KnownFile | None]], looks: dict[str, FileStat]
) -> None:
    snapshot, wanted = Snapshot(first), dict(first)
    for path, seen in later:
        if seen is None:
            snapshot.forget(path)
            wanted.pop(path, None)
        else:
            snapshot.put(path, seen)
            wanted[path] = seen
    assert {path: snapshot.get(path) for path in snapshot.below("")} == wanted
    assert len(snapshot) == len(wanted) and snapshot.get("no such note.md") is None
    assert [*snapshot.below("d")] == [path for path in wanted if path.startswith("d/")]
    same = {path for path, stat in looks.items() if path in wanted and wanted[path].stat == stat}
    assert snapshot.differing(looks).keys() == looks.keys() - same


@given(st.dictionaries(PATHS, HASHES), st.dictionaries(PATHS, LOOKS | st.none()))
def test_what_git_lists_and_the_disk_shows_are_put_together(
    hashes: dict[str, str], looks: dict[str, FileStat | None]
) -> None:
    long_after = 2**64
    snapshot = Snapshot.of(hashes, looks, long_after)
    wanted = {path: KnownFile(hash, looks.get(path)) for path, hash in hashes.items()}
    assert {path: snapshot.get(path) for path in snapshot.below("")} == wanted


def test_no_save_leaves_an_object_in_it() -> None:
    gc.collect()
    before = len(gc.get_objects())
    snapshot = Snapshot({})
    for number in range(1000):
        snapshot.record(f"{number}.md", sha1(b"%d" % number).hexdigest(), FileStat(number, 2, 3, 4), 2**62)
    assert len(gc.get_objects()) - before < 100
    assert snapshot.get("7.md") == KnownFile(sha1(b"7").hexdigest(), FileStat(7, 2, 3, 4))
