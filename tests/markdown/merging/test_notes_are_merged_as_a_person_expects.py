"""What two people, or one with two machines, do to a note, and the exact note that comes out of it."""

import pytest

from agent.markdown.merging.notes import MergedNote, merge_notes


def merged(base: str | None, ours: str, theirs: str, *, is_log: bool = False) -> str:
    """The merged text of two versions that do not contradict each other, whichever of them is ours."""
    old = None if base is None else base.encode()
    found = merge_notes(old, ours.encode(), theirs.encode(), is_log=is_log)
    assert found.other is None
    assert merge_notes(old, theirs.encode(), ours.encode(), is_log=is_log) == found
    return found.data.decode()


def contradiction(base: str | None, ours: str, theirs: str) -> tuple[str, str]:
    """The merged text and the other version, of two that contradict each other."""
    found = merge_notes(None if base is None else base.encode(), ours.encode(), theirs.encode())
    assert found.other is not None
    return found.data.decode(), found.other.decode()


def test_a_task_is_ticked_here_and_reworded_there() -> None:
    base = "- [ ] Buy milk\n- [ ] Call Ann\n"
    ours, theirs = base.replace("[ ] Buy", "[x] Buy"), base.replace("milk", "oat milk at the market")
    assert merged(base, ours, theirs) == "- [x] Buy oat milk at the market\n- [ ] Call Ann\n"


def test_a_task_is_ticked_on_both_sides_and_dated_on_one() -> None:
    assert merged("- [ ] 交房租\n", "- [x] 交房租 ✅ 2026-11-21\n", "- [x] 交房租\n") == "- [x] 交房租 ✅ 2026-11-21\n"


def test_a_task_is_ticked_here_and_cancelled_there() -> None:
    assert merged("- [ ] paint\n", "- [-] paint\n", "- [x] paint\n") == "- [x] paint\n"


def test_a_task_is_moved_here_and_ticked_there() -> None:
    base = "## Now\n\n- [ ] pay the rent\n\n## Later\n\n- [ ] paint the door\n"
    ours = "## Now\n\n## Later\n\n- [ ] paint the door\n- [ ] pay the rent\n"
    assert merged(base, ours, base.replace("[ ] pay", "[x] pay")) == (
        "## Now\n\n## Later\n\n- [ ] paint the door\n- [x] pay the rent\n"
    )


def test_a_block_id_says_that_it_is_the_same_task() -> None:
    base = "- [ ] call the plumber ^p1\n- [ ] tidy up\n"
    theirs = "- [ ] tidy up\n- [ ] write to the man about the sink ^p1\n"
    assert merged(base, base.replace("[ ] call", "[x] call"), theirs) == (
        "- [ ] tidy up\n- [x] write to the man about the sink ^p1\n"
    )


def test_two_list_items_are_added_at_one_place() -> None:
    base = "Shopping:\n\n- bread\n- eggs\n"
    assert merged(base, f"{base}- tea\n", f"{base}- apples\n") == "Shopping:\n\n- bread\n- eggs\n- apples\n- tea\n"


def test_the_same_item_is_added_on_both_sides() -> None:
    assert merged("- 面包\n", "- 面包\n- 牛奶\n", "- 面包\n- 牛奶\n- 茶\n") == "- 面包\n- 牛奶\n- 茶\n"


def test_nested_items_are_added_below_one_item() -> None:
    base = "- trip\n  - tickets\n- work\n"
    ours = "- trip\n  - tickets\n  - hotel\n- work\n"
    theirs = "- trip\n  - tickets\n  - visa\n- work\n  - report\n"
    assert merged(base, ours, theirs) == "- trip\n  - tickets\n  - hotel\n  - visa\n- work\n  - report\n"


def test_a_numbered_list_stays_in_sequence() -> None:
    base, ours, theirs = "1. wake\n2. eat\n", "1. wake\n2. wash\n3. eat\n", "1. wake\n2. eat\n3. walk\n"
    assert merged(base, ours, theirs) == "1. wake\n2. wash\n3. eat\n4. walk\n"


def test_an_item_is_taken_out_of_a_numbered_list_here_and_a_line_there() -> None:
    base = "Again.\n\n1. wake\n2. eat\n3. walk\n\nAgain.\n\nThis line of the note is going to be taken out.\n"
    ours, theirs = base.replace("2. eat\n", ""), base.replace("This line of the note is going to be taken out.\n", "")
    assert merged(base, ours, theirs) == "Again.\n\n1. wake\n3. walk\n\nAgain.\n\n"
    base, ours, theirs = (text.replace("Again.", "再来一次。") for text in (base, ours, theirs))
    assert merged(base, ours, theirs) == "再来一次。\n\n1. wake\n3. walk\n\n再来一次。\n\n"


def test_blank_lines_at_the_top_and_the_end_are_a_side_s_own_whatever_stands_there() -> None:
    base = "- a\n- b\n\n"
    assert merged(base, "- a\n- b\n- b\n\n\n", "- c\n- a\n- b\n\n") == "- c\n- a\n- b\n- b\n\n\n"
    assert merged("- b\n", "- b\n- 甲\n- 甲\n\n", "\n- 乙\n- b") == "\n- 乙\n- b\n- 甲\n- 甲\n\n"


def test_a_list_numbered_with_ones_keeps_its_ones() -> None:
    assert merged("1. a\n1. b\n", "1. a\n1. x\n1. b\n", "1. a\n1. b\n1. c\n") == "1. a\n1. x\n1. b\n1. c\n"


def test_a_tag_is_added_on_both_sides() -> None:
    base = "---\ntags: [home, work] # mine\nstatus: open\n---\nText.\n"
    ours, theirs = base.replace("work]", "work, 旅行]"), base.replace("work]", "work, urgent]").replace("open", "done")
    assert merged(base, ours, theirs) == base.replace("work]", "work, urgent, 旅行]").replace("open", "done")


def test_a_tag_is_taken_out_here_and_another_added_there() -> None:
    base = "---\ntags:\n  - a # first\n  - b\n---\n"
    assert merged(base, "---\ntags:\n  - a # first\n---\n", f"{base[:-4]}  - 丙\n---\n") == (
        "---\ntags:\n  - a # first\n  - 丙\n---\n"
    )


def test_comments_in_the_header_stay_where_they_are() -> None:
    base = "---\n# who\nowner: Ann\n# when\ndue: 2026-01-01\n---\n"
    ours = base.replace("Ann", "Ann # and Bob")
    theirs = base.replace("# when\ndue: 2026-01-01", "# when, by contract\ndue: 2026-02-01\npriority: 1")
    assert merged(base, ours, theirs) == (
        "---\n# who\nowner: Ann # and Bob\n# when, by contract\ndue: 2026-02-01\npriority: 1\n---\n"
    )


def test_a_memory_that_was_said_on_both_machines() -> None:
    base = (
        "---\ntimes: 2\nsaid: 2026-01-01T10:00:00+00:00\ncreated: 2026-01-01T09:00:00+00:00\n"
        "slots:\n  city: Oslo\n---\nAnn likes tea.\n"
    )
    ours = base.replace("times: 2", "times: 3").replace("said: 2026-01", "said: 2026-02").replace("Oslo", "Rome")
    theirs = base.replace("times: 2", "times: 5").replace("01T10", "05T10").replace("Oslo", "Oslo\n  food: rice")
    assert merged(base, ours, theirs) == (
        "---\ntimes: 6\nsaid: 2026-02-01T10:00:00+00:00\ncreated: 2026-01-01T09:00:00+00:00\n"
        "slots:\n  city: Rome\n  food: rice\n---\nAnn likes tea.\n"
    )


def test_a_status_is_set_differently() -> None:
    base = "---\nstatus: open\n---\nx\n"
    assert contradiction(base, base.replace("open", "done"), base.replace("open", "dropped").replace("x", "x, y")) == (
        "---\nstatus: dropped\n---\nx, y\n",
        "---\nstatus: done\n---\nx\n",
    )


def test_a_header_is_broken_on_one_side() -> None:
    base, ours = "---\na: 1\n---\nx\n", "---\na: [\n---\nx\n\nmore\n"
    assert contradiction(base, ours, "---\na: 1\nb: 2\n---\nx\n") == ("---\na: 1\nb: 2\n---\nx\n\nmore\n", ours)


def test_a_section_is_moved_here_and_edited_there() -> None:
    base = "# A\n\nOne.\n\n# B\n\nTwo.\n\n# C\n\nThree.\n"
    ours = "# C\n\nThree.\n\n# A\n\nOne.\n\n# B\n\nTwo.\n"
    theirs = base.replace("Three.", "Three and more.\n\nNew below three.")
    assert merged(base, ours, theirs) == ("# C\n\nThree and more.\n\nNew below three.\n\n# A\n\nOne.\n\n# B\n\nTwo.\n")


def test_a_section_is_deleted_here_and_an_item_added_there() -> None:
    base = "# A\n\n- x\n- y\n\n# B\n\nb\n"
    assert merged(base, "# B\n\nb\n", base.replace("- y\n", "- y\n- z\n")) == "# A\n\n- z\n\n# B\n\nb\n"


def test_a_heading_is_renamed_here_and_an_item_added_there() -> None:
    base = "# Plan\n\n## Tasks\n\n- a\n"
    ours = base.replace("Tasks", "Things to do")
    assert merged(base, ours, f"{base}- b\n") == "# Plan\n\n## Things to do\n\n- a\n- b\n"


def test_two_sections_are_added_at_the_end() -> None:
    base = "# 一\n\n甲\n"
    assert merged(base, f"{base}\n## 想法\n\n- 好\n", f"{base}\n再加一句。\n\n## 笔记\n\n- 新\n") == (
        "# 一\n\n甲\n\n再加一句。\n\n## 想法\n\n- 好\n\n## 笔记\n\n- 新\n"
    )


def test_the_same_section_is_added_on_both_sides() -> None:
    assert merged("# A\n", "# A\n\n## Notes\n\n- one\n", "# A\n\n## Notes\n\n- two\n") == (
        "# A\n\n## Notes\n\n- one\n- two\n"
    )


def test_a_paragraph_is_deleted_here_and_corrected_there() -> None:
    base = "# A\n\nOld text here.\n\nStays.\n"
    assert merged(base, "# A\n\nStays.\n", base.replace("here.", "here, corrected.")) == (
        "# A\n\nOld text here, corrected.\n\nStays.\n"
    )


def test_a_paragraph_is_split_here_and_its_beginning_edited_there() -> None:
    base = "It rained all day and we stayed at home. In the evening we cooked rice with fish.\n"
    assert merged(base, base.replace("home. ", "home.\n\n"), base.replace("rained", "snowed")) == (
        "It snowed all day and we stayed at home.\n\nIn the evening we cooked rice with fish.\n"
    )


def test_words_of_one_sentence_are_changed_on_both_sides() -> None:
    base = "See [[Plan]] today.\n"
    assert merged(base, "See [[Plan]] and [[Budget]] today.\n", "See [[Plan]] today, and tomorrow.\n") == (
        "See [[Plan]] and [[Budget]] today, and tomorrow.\n"
    )
    base = "今天天气很好，我们去公园。\n"
    ours, theirs = base.replace("公园", "北海公园"), base.replace("今", "昨")
    assert merged(base, ours, theirs) == "昨天天气很好，我们去北海公园。\n"


def test_one_word_is_changed_differently() -> None:
    assert contradiction("We meet on Monday.\n", "We meet on Tuesday.\n", "We meet on Friday.\n") == (
        "We meet on Tuesday.\n",
        "We meet on Friday.\n",
    )


def test_rows_are_added_to_a_table_and_a_cell_is_edited() -> None:
    base = "| who | what |\n|---|---|\n| Ann | tea |\n"
    ours, theirs = f"{base}| Bob | milk |\n", base.replace("tea", "green tea") + "| Eve | water |\n"
    assert merged(base, ours, theirs) == (
        "| who | what |\n|---|---|\n| Ann | green tea |\n| Bob | milk |\n| Eve | water |\n"
    )


def test_a_callout_is_renamed_here_and_grows_there() -> None:
    base = "> [!note] Plan\n> one\n> two\n"
    assert merged(base, f"{base}> three\n", base.replace("Plan", "My plan")) == (
        "> [!note] My plan\n> one\n> two\n> three\n"
    )


def test_lines_of_code_are_changed_on_both_sides() -> None:
    base = "```sh\na\nb\nc\n```\n"
    assert merged(base, base.replace("a", "a1"), base.replace("c", "c1")) == "```sh\na1\nb\nc1\n```\n"
    assert contradiction(base, base.replace("b", "b1"), base.replace("b", "b22")) == (
        "```sh\na\nb22\nc\n```\n",
        "```sh\na\nb1\nc\n```\n",
    )


def test_a_daily_note_begins_on_two_machines() -> None:
    head = "---\ndate: 2026-11-21\n---\n# 2026-11-21\n\n"
    ours, theirs = "- 09:10 walked\n- 12:00 lunch with Ann\n", "- 10:30 post came\n- 18:00 电影\n"
    assert merged(None, head + ours, head + theirs, is_log=True) == (
        f"{head}- 09:10 walked\n- 10:30 post came\n- 12:00 lunch with Ann\n- 18:00 电影\n"
    )


def test_a_table_of_runs_grows_on_two_machines() -> None:
    base = "| time | run |\n| --- | --- |\n| 2026-01-01T10:00:00+00:00 | a |\n"
    ours = f"{base}| 2026-01-03T10:00:00+00:00 | c |\n"
    theirs = f"{base}| 2026-01-02T10:00:00+00:00 | b |\n| 2026-01-04T10:00:00+00:00 | d |\n"
    assert merged(base, ours, theirs, is_log=True) == (
        f"{base}| 2026-01-02T10:00:00+00:00 | b |\n| 2026-01-03T10:00:00+00:00 | c |\n"
        "| 2026-01-04T10:00:00+00:00 | d |\n"
    )


def test_two_different_notes_of_one_name_stay_two() -> None:
    ours, theirs = "# Rome\n\nWe fly in May.\n", "# Soup\n\nLeek and potato.\n"
    assert contradiction(None, ours, theirs) == (theirs, ours)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "result"),
    [
        ("a\n\nb\n", "a\r\n\r\nb\r\n", "a\n\nb\n\nc\n", "a\r\n\r\nb\r\n\r\nc\r\n"),
        ("a\n\nb", "a\n\nb\n\nc", "x\n\na\n\nb", "x\n\na\n\nb\n\nc"),
        ("a\n\nb\n", "\ufeffa\n\nb\n", "a\n\nb\n\nc\n", "\ufeffa\n\nb\n\nc\n"),
        ("A\n\nB\n", "X\n\nA\n\nB\n", "Y\n\nA\n\nB\n", "X\n\nY\n\nA\n\nB\n"),
    ],
)
def test_line_endings_the_mark_at_the_beginning_and_blank_lines(base: str, ours: str, theirs: str, result: str) -> None:
    assert merged(base, ours, theirs) == result


def test_bytes_that_are_no_text_are_never_mixed() -> None:
    assert merge_notes(b"\xff\xfe", b"\xff\xfea", b"\xff\xfe") == MergedNote(b"\xff\xfea")
    assert merge_notes(b"\0", b"\0a", b"\0bc") == MergedNote(b"\0bc", b"\0a")


def test_an_item_is_added_here_and_a_paragraph_below_the_list_there() -> None:
    assert merged("- a\n", "- a\n- b\n  - c\n", "- a\n\nAfter the list.\n") == "- a\n- b\n  - c\n\nAfter the list.\n"
    assert merged("- 甲\n", "- 甲\n\n列表之后。\n", "- 甲\n- 乙\n") == "- 甲\n- 乙\n\n列表之后。\n"


def test_an_item_is_added_below_another_here_and_after_it_there() -> None:
    assert merged("- a\n", "- a\n- b\n", "- a\n  - below a\n") == "- a\n  - below a\n- b\n"


def test_a_key_is_deleted_here_and_has_a_new_comment_there() -> None:
    base = "---\nstatus: open\ndue: friday\n---\nbody\n"
    theirs = base.replace("due:", "# ask Ann first\ndue:")
    assert merged(base, base.replace("due: friday\n", ""), theirs) == theirs
