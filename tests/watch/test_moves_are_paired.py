"""Which new file is which old one."""

from hypothesis import given
from hypothesis import strategies as st

from agent.watch.compare import pair_by

MARKS = st.dictionaries(
    st.sampled_from(["a/x.md", "a/y.md", "b/x.md", "b/y.md", "z.md"]), st.sampled_from(["", "1", "2"])
)


def test_of_several_with_the_same_content_those_of_one_name_go_together() -> None:
    new = {"b/one.md": "h", "b/two.md": "h", "b/other.md": "h"}
    gone = {"a/two.md": "h", "a/one.md": "h", "a/name.md": "h"}
    assert pair_by(new, gone) == {"b/one.md": "a/one.md", "b/two.md": "a/two.md", "b/other.md": "a/name.md"}


@given(MARKS, MARKS)
def test_as_many_pairs_as_there_can_be_and_each_path_once(new: dict[str, str], gone: dict[str, str]) -> None:
    pairs = pair_by(new, gone)
    assert len(set(pairs.values())) == len(pairs)
    assert all(new[path] == gone[source] != "" for path, source in pairs.items())
    for mark in ("1", "2"):
        there = min(list(new.values()).count(mark), list(gone.values()).count(mark))
        assert sum(new[path] == mark for path in pairs) == there
