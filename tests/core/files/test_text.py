"""Encodings by the evidence of the bytes."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from tasks.core.files.text import binary, detect, read_text, transcode

CHINESE = "姓名,城市,金额\n张三,北京,100\n李四,上海,200\n公司内部编码与证券代码的对应关系,深圳,12\n"
TAIWAN = "姓名,城市,金額\n張三,臺北,100\n李四,高雄,200\n證券代碼與簡稱的對應關係,新竹,12\n"
JAPANESE = "名前,都市\nたなか,東京\n株式会社テスト,大阪\n日本語のテキスト,京都\n"
KOREAN = "이름,도시\n김철수,서울\n박영희,부산\n한국어 텍스트 입니다,대구\n"
FRENCH = "nom,ville\nRené,Orléans\nÉmile,Besançon\nZoë,Nîmes\nà,naïve\n"
GERMAN = "Größe,Straße\nÜber,München\nÄpfel,Köln\n"
RUSSIAN = "имя,город\nИван,Москва\nПётр,Казань\nпроверка кодировки текста,Омск\n"


@pytest.mark.parametrize(
    ("text", "encoding", "name"),
    [
        ("a,b\n1,2\n", "ascii", "utf-8"),
        (CHINESE, "utf-8", "utf-8"),
        (CHINESE, "utf-8-sig", "utf-8-sig"),
        (CHINESE, "utf-16", "utf-16"),
        (CHINESE, "utf-16-le", "utf-16-le"),
        (CHINESE, "utf-16-be", "utf-16-be"),
        (CHINESE, "utf-32", "utf-32"),
        (CHINESE, "utf-32-le", "utf-32-le"),
        (CHINESE, "utf-32-be", "utf-32-be"),
        ("a,b\n1,2\n", "utf-32-be", "utf-32-be"),
        (CHINESE, "gbk", "gb18030"),
        (CHINESE + "𠀀㐀\n", "gb18030", "gb18030"),
        (TAIWAN, "big5", "big5"),
        (JAPANESE, "cp932", "cp932"),
        (KOREAN, "euc_kr", "euc_kr"),
        (FRENCH, "latin-1", "cp1252"),
        (GERMAN, "latin-1", "cp1252"),
        (GERMAN + "5 €\n", "cp1252", "cp1252"),
        (RUSSIAN, "cp1251", "cp1251"),
        ("中国,1\n", "gbk", "gb18030"),
        ("联通,1\n", "gbk", "gb18030"),
        ("café,1\n", "cp1252", "cp1252"),
        ("a,1\n" * 20_000 + CHINESE, "gbk", "gb18030"),
    ],
)
def test_a_text_is_read_in_its_encoding(tmp_path: Path, text: str, encoding: str, name: str) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(text.encode(encoding))
    found = detect(path)
    assert found.name == name
    assert read_text(path)[0].removeprefix("\ufeff") == text
    assert transcode(path, found, tmp_path / "copy") == 0
    assert (tmp_path / "copy").read_bytes().decode() == text


@pytest.mark.parametrize(
    ("text", "encoding", "certain"),
    [(CHINESE, "utf-8", True), (CHINESE, "gbk", True), ("中国,1\n", "gbk", False), ("café\n", "cp1252", False)],
)
def test_a_guess_is_said_to_be_one(tmp_path: Path, text: str, encoding: str, certain: bool) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(text.encode(encoding))
    found = detect(path)
    assert found.certain is certain
    assert ("guessed" in found.note) is not certain


def test_texts_of_all_encodings_are_no_binaries(tmp_path: Path) -> None:
    texts = [
        CHINESE,
        TAIWAN,
        JAPANESE,
        KOREAN,
        FRENCH,
        GERMAN,
        RUSSIAN,
        "a,b\n1,2\n",
        "数,值\n一,二\n",
        "a\x01b\x0212\x1f\n" * 9,
    ]
    codecs = (
        "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "gb18030", "big5",
        "big5hkscs", "cp932", "euc_jp", "iso2022_jp", "euc_kr", "hz", "latin-1", "cp1252", "cp1250", "cp1251", "koi8-r",
        "cp437", "mac_roman",
    )  # fmt: skip
    tried = 0
    for text in texts:
        for codec in codecs:
            with contextlib.suppress(UnicodeEncodeError):
                data = (text * 40).encode(codec)
                assert [binary(data[:size]) for size in (len(text.encode(codec)), 4096)] == ["", ""], (text, codec)
                tried += 1
    assert tried > 120


def test_a_nul_or_two_are_no_binary() -> None:
    assert binary(b"a,b\0c\n" + b"1,2\n" * 100) == binary(b"a\x1a") == binary(b"") == ""
    assert binary(b"\0") == "the first 1 bytes are NUL"


def test_lines_of_two_encodings(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(CHINESE.encode() + CHINESE.encode("gbk"))
    found = detect(path)
    assert (found.name, found.mixed, found.is_utf8) == ("gb18030", True, False)
    assert read_text(path)[0] == CHINESE * 2


def test_a_character_cut_by_a_block_border(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(("a" * ((1 << 20) - 1) + "字" * 10).encode())
    assert detect(path).name == "utf-8"
    path.write_bytes(("a" * ((1 << 20) - 1) + CHINESE).encode("gbk"))
    assert read_text(path)[0].endswith(CHINESE)


def test_what_cannot_be_decoded_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(CHINESE.encode("gbk") + b"\xff\xff,1\n")
    text, _, lost = read_text(path)
    assert lost >= 1
    assert text.startswith(CHINESE)


def test_a_nul_in_a_text_does_not_make_it_utf16(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(b"a,b\0c\n" + b"1,2\n" * 100)
    assert detect(path).name == "utf-8"


@pytest.mark.parametrize("position", [60, -2])
def test_a_broken_byte_in_utf8_costs_one_character(tmp_path: Path, position: int) -> None:
    data = bytearray(CHINESE.encode())
    data[position if position > 0 else len(data) - 8] = 0xFF
    path = tmp_path / "t.txt"
    path.write_bytes(data)
    found = detect(path)
    assert (found.name, found.broken, found.is_utf8) == ("utf-8", True, False)
    text, _, lost = read_text(path)
    assert 1 <= lost <= 3
    assert len(CHINESE) - 2 <= len(text) <= len(CHINESE) + 2
    assert CHINESE.startswith(text.split("\ufffd")[0]) and CHINESE.endswith(text.split("\ufffd")[-1])
