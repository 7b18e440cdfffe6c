import pytest

from tasks.core.search.words import words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Which screenModes do the phones use?",
            {"screenmodes", "screenmode", "screen", "modes", "mode", "phones", "phone", "use"},
        ),
        ("RAM_MiB over 32", {"ram", "mib", "mi", "b", "over", "32"}),
        ("Companies, classes and addresses", {"companies", "company", "classes", "class", "addresses", "address"}),
        ("销售总额", {"销售", "售总", "总额"}),
        ("额", {"额"}),
        ("华北2023年", {"华北", "2023", "年"}),
        ("ＡＢＣ", {"abc"}),
        ("the of and 的", set()),
        ("", set()),
    ],
)
def test_words_of_a_text(text: str, found: set[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("How many race ids are there?", "raceId"),
        ("统计华北地区的销售总额", "销售总额"),
        ("在任基金的数量", "在任基金数(只)"),
        ("the countries of origin", "country_code"),
    ],
)
def test_a_question_meets_the_name_it_means(question: str, name: str) -> None:
    assert words(question) & words(name)
