"""Lines of a text that matter for a question, under a budget of characters."""

from __future__ import annotations

from tasks.core.search.passages import passages

FILLER = "\n".join(f"- remark {number}: nothing of interest here" for number in range(200))
TEXT = f"# Notes\n\n## Other\n{FILLER}\n\n## Holdings\n\n- stake_before: 出让前持股比例 [ratio]\n- note: unrelated\n"


def test_a_text_that_fits_is_given_whole() -> None:
    assert passages("anything", "a\nb", 3) == "a\nb"


def test_a_line_at_the_end_is_found_by_the_question_under_its_heading() -> None:
    told = passages("列出出让前持股比例", TEXT, 400)
    assert len(told) <= 400
    assert "# Notes" in told and "## Holdings\n\n- stake_before" not in told
    assert told.index("## Holdings") < told.index("- stake_before: 出让前持股比例 [ratio]")
    assert "remark 0" in told, "what room is left goes to the beginning"
    assert "…" in told, "what is left out is marked"


def test_without_a_common_word_the_beginning_is_shown() -> None:
    told = passages("zzz", TEXT, 300)
    assert "remark 0" in told and "stake_before" not in told


def test_no_room_gives_nothing() -> None:
    assert passages("出让前", TEXT, 0) in ("", "…")
