"""Lines that name no id, and the records that their wording leads to."""

from tasks.document.records.names import belonging, sentences, share, shared

OWN = [
    ("1", "Miles Merrick (id 1) was born in Elmstead, height 171 cm."),
    ("2", "Peter Merrick (id 2) was born in Elmstead, height 180 cm."),
    ("3", "编码3的断面名为珩科取水口，所在水体为桓水。"),
    ("4", "断面瑾科取水口（编码4）位于桓水。"),
    ("5", "潼恒交界断面登记编码为5。"),
]


def found(line: str) -> dict[str, str]:
    own = dict(OWN)
    likeness = belonging({1: line}, OWN).get(1)
    return {r: shared(own[r], line, told.words) for r, told in likeness.records.items()} if likeness else {}


def test_a_short_name_leads_to_its_record() -> None:
    assert found("Correction: the pace of M. Merrick is 66.") == {"1": "Miles Merrick"}
    assert found("珩科取水口站点，pH值7.25。") == {"3": "珩科取水口"}
    assert found("潼恒交界，pH值7.25；就瑾科取水口来说，水温20℃。") == {"4": "瑾科取水口", "5": "潼恒交界"}


def test_a_name_of_several_records_leads_to_all_of_them() -> None:
    assert set(found("Merrick was fined.")) == {"1", "2"}


def test_other_lines_lead_nowhere() -> None:
    assert found("The market was calm in 2020. 全年水质良好。") == {} and belonging({}, OWN) == {}


def test_numbers_and_initials_end_no_sentence() -> None:
    assert sentences("M. Merrick paid 1.5 m. He left. 水温18.2度。完！") == [
        "M. Merrick paid 1.5 m.", "He left.", "水温18.2度。", "完！"
    ]  # fmt: skip


def test_a_name_of_common_words_leads_to_its_record() -> None:
    own = [
        (f"F{n}", f"Fund F{n} is {first} {second} Reserve Fund, or {first} {second} Reserve Z for short.")
        for n, (first, second) in enumerate((a, b) for a in FIRST for b in SECOND)
    ]
    line = "Correction: the type printed earlier for Orwell Horizon Reserve Z is bond."
    assert set(belonging({9: line}, own)[9].records) == {"F5"}


def test_a_long_name_is_told_from_others_that_share_a_part() -> None:
    own = [(str(n), f"编码{n}，晋川市泓溪路{kind}，由市教育局主管。") for n, kind in enumerate(KINDS)]
    assert set(belonging({9: "招生方面，晋川市泓溪路初级中学报到421人。"}, own)[9].records) == {"2"}


KINDS = ("小学", "第一小学", "初级中学", "高级中学", "完全中学", "职业学校")


def test_each_record_of_a_line_has_its_own_part_of_it() -> None:
    line = (
        "Code 7 stands for Ash Hill. It grew. Readers know Elm Dale, class Z, as Elm Dale Z; the list says 8. It fell."
    )
    assert share(line, "7", {"8"}) == "Code 7 stands for Ash Hill. It grew."
    assert share(line, "8", {"7"}) == "Readers know Elm Dale, class Z, as Elm Dale Z; the list says 8. It fell."
    assert share("编号3为甲站。水温低。编号4为乙站；水温高。", "4", {"3"}) == "编号4为乙站；水温高。"


FIRST = ("Linden", "Orwell", "Silver", "Stone")
SECOND = ("Balance", "Horizon", "Meridian", "Summit")
