"""File → its encoding by the evidence of all its bytes, its text, or a UTF-8 copy of it."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = 1 << 20
_SAMPLE = 1 << 18
"""Bytes of lines with non-ASCII characters that a legacy encoding is judged by."""
_WINDOW = re.compile(rb"[\x00-\x7f]{0,8}(?:[\x80-\xff]+[\x00-\x7f]{0,8})+")
_FEW = 40
"""Below so many non-ASCII bytes any guess is a guess."""
_CLEAR = 5
"""So many show the encoding where no other one fits."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NO_TEXT = bytes({*range(0x1A), 0x7F} - {1, 2, 3, *b"\t\n\v\f\r"})
"""Bytes that no text in a single-byte, multi-byte or UTF-8 encoding holds but by mistake; 1 to 3 and 0x1c to 0x1f divide fields in
exports, 0x1a ends files, 0x1b switches alphabets."""
_UNWRITTEN = ("Cc", "Cn", "Cs")
"""Categories of characters that no text is made of; U+FFFD, for what cannot be decoded, is another one."""
_STRANGE, _STRANGE_SHARE = 2, 0.03
"""So many of them, and so large a share, are no mistake; among random bytes they are 7 %."""
_ONE_BYTE = ("cp1252", "cp1250")
"""Of the West and of the middle of Europe: most of their bytes are letters in both."""
_WESTERN = {"cp1250", "latin_1", "cp852", "cp437", "iso8859_15", "cp858", "cp850", "mac_roman", "cp1254", "cp1257"}


@dataclass(frozen=True)
class Encoding:
    """A Python codec name; `mixed` means UTF-8 lines beside lines in this codec, `broken` some bytes that fit none."""

    name: str
    certain: bool = True
    mixed: bool = False
    broken: bool = False
    others: tuple[str, ...] = ()
    """Codecs that the same bytes are valid in, where nothing decides."""

    @property
    def is_utf8(self) -> bool:
        """Whether the bytes are UTF-8 as they are, but for a byte-order mark."""
        return self.name in ("utf-8", "utf-8-sig") and not self.broken

    @property
    def note(self) -> str:
        """What a reader should know; empty for Unicode."""
        also = f"; {', '.join(self.others)} would also fit" if self.others else ""
        if self.mixed:
            return f"lines in UTF-8 and lines in {self.name} in one file; each was read as what it is{also}"
        if not self.certain:
            return f"encoding guessed from few characters as {self.name}{also}; look at the names and texts"
        return "" if self.name.startswith("utf") else f"read as {self.name}{also}"


def detect(path: Path) -> Encoding:
    """The encoding of a file: byte-order mark, NUL pattern, strict UTF-8, then the lines that are not UTF-8."""
    with path.open("rb") as file:
        head = file.read(1 << 16)
    for mark, name in _BOMS:
        if head.startswith(mark):
            return Encoding(name, broken=name == "utf-8-sig" and not _is_utf8(path))
    if wide := _utf32(head) or _utf16(head):
        return Encoding(wide)
    if _is_utf8(path):
        return Encoding("utf-8")
    good, bad = _odd_lines(path)
    if not bad:
        return Encoding("utf-8", broken=True)
    name, certain = _legacy(bad)
    others = _others(bad, name, certain)
    clear = certain or (not others and sum(byte > 127 for byte in bad) >= _CLEAR)
    return Encoding(name, clear, mixed=_has_words(good), others=others)


def binary(head: bytes) -> str:
    """Why the first bytes of a file are those of no text, in words; empty where they may be. Wide encodings are texts."""
    if head and not head.strip(b"\0"):
        return f"the first {len(head):,} bytes are NUL"
    wide = next((name for mark, name in _BOMS[1:] if head.startswith(mark)), "") or _utf32(head) or _utf16(head)
    if wide:
        text = codecs.getincrementaldecoder(wide)("replace").decode(head)
        strange, of = sum(_is_strange(sign) for sign in text), len(text)
    else:
        strange, of = len(head) - len(head.translate(None, _NO_TEXT)), len(head)
    if strange < _STRANGE or strange < of * _STRANGE_SHARE:
        return ""
    return f"{strange:,} of the first {of:,} characters are control characters, or none at all"


def _is_strange(sign: str) -> bool:
    """Of decoded text."""
    return sign == "\ufffd" or (
        unicodedata.category(sign) in _UNWRITTEN and (ord(sign) > 0x7E or ord(sign) in _NO_TEXT)
    )


def read_text(path: Path) -> tuple[str, Encoding, int]:
    """The whole text, its encoding, and how many characters could not be decoded (U+FFFD stands for them).

    Without byte-order mark; lines end with `\\n`.
    """
    encoding = detect(path)
    text = "".join(_decoded(path, encoding)).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return text, encoding, text.count("\ufffd")


def whole(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair, which no UTF-8 can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def transcode(path: Path, encoding: Encoding, target: Path) -> int:
    """Write a UTF-8 copy without byte-order mark; line ends stay. Returns the count of undecodable characters."""
    lost = 0
    with target.open("w", encoding="utf-8", newline="", errors="replace") as out:
        for piece in _decoded(path, encoding):
            lost += piece.count("\ufffd")
            out.write(piece)
    return lost


def _decoded(path: Path, encoding: Encoding) -> Iterator[str]:
    with path.open("rb") as file:
        if encoding.mixed:
            for line in file:
                yield _either(line, encoding.name)
            return
        decoder = codecs.getincrementaldecoder(encoding.name)("replace")
        while block := file.read(_BLOCK):
            yield decoder.decode(block)
        yield decoder.decode(b"", True)


def _either(line: bytes, legacy: str) -> str:
    text = _mostly_utf8(line)
    return line.decode(legacy, "replace") if text is None else text


def _mostly_utf8(line: bytes) -> str | None:
    """The line as UTF-8; None when more of it fails than fits."""
    text = line.decode("utf-8", "replace")
    lost = text.count("\ufffd")
    return text if not lost or sum(character > "\x7f" for character in text) > 3 * lost else None


def _utf32(head: bytes) -> str:
    """UTF-32 without a mark: four bytes a character, of which the highest is zero and the next one small."""
    whole = head[: len(head) // 4 * 4]
    if len(whole) < 16 or (len(head) % 4 and len(head) < 1 << 12):
        return ""
    for name, order in (("utf-32-le", (0, 1, 2, 3)), ("utf-32-be", (3, 2, 1, 0))):
        low, _, plane, top = (whole[at::4] for at in order)
        if not any(top) and max(plane) <= 0x10 and low.count(0) < len(low) / 2:
            return name if _can(whole, name) else ""
    return ""


def _utf16(head: bytes) -> str:
    """UTF-16 without a mark: the NUL bytes of its ASCII characters all lie on one side; most of them where other scripts have
    some, too, and then what it decodes to must have lines and no character that is none.
    """
    nuls = head.count(0)
    if nuls < 3 or nuls < len(head) * 0.02:
        return ""
    odd = head[1::2].count(0)
    if odd >= nuls * 0.95:
        return "utf-16-le"
    if odd <= nuls * 0.05:
        return "utf-16-be"
    name = "utf-16-le" if odd * 2 > nuls else "utf-16-be"
    text = codecs.getincrementaldecoder(name)("replace").decode(head)
    return name if max(odd, nuls - odd) >= nuls * 0.6 and "\n" in text and not any(map(_is_strange, text)) else ""


def _is_utf8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                decoder.decode(block)
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        return False
    return True


def _odd_lines(path: Path) -> tuple[bytes, bytes]:
    """Lines with non-ASCII bytes: those in UTF-8 and the others. ASCII lines would drown the signal."""
    good, bad = bytearray(), bytearray()
    with path.open("rb") as file:
        while (line := file.readline(_SAMPLE)) and len(bad) < _SAMPLE:
            if line.isascii():
                continue
            if _mostly_utf8(line) is None:
                bad += _around(line)
            elif len(good) < _SAMPLE:
                good += _around(line)
    return bytes(good), bytes(bad)


def _around(line: bytes) -> bytes:
    """A long line cut down to its non-ASCII bytes and what stands beside them."""
    return line if len(line) < 4096 else b"".join(_WINDOW.findall(line))


def _has_words(good: bytes) -> bool:
    """Whether these lines are UTF-8 by intent: two or three bytes may be so by chance, a sequence of words is not."""
    return sum(byte > 127 for byte in good) >= 6


def _legacy(sample: bytes) -> tuple[str, bool]:
    """Codec and whether it is certain, for bytes that are no UTF-8."""
    high = sum(byte > 127 for byte in sample)
    runs = re.findall(rb"[\x80-\xff]+", sample)
    lone = sum(len(run) == 1 for run in runs)
    beside = len(re.findall(rb"[A-Za-z][\x80-\xff](?=[a-z\s,;.\"'])|(?<=[\s,;\"'])[\x80-\xff][a-z]", sample))
    scores = sorted(((_share(sample, name, common), name) for name, common in _EASTERN.items()), reverse=True)
    best, name = scores[0]
    if lone >= 0.8 * len(runs) and beside >= 0.5 * lone and best < 0.9:
        return ("cp1252" if _can(sample, "cp1252") else "latin-1"), high >= _FEW
    if name == "gb18030" and _is_hangul(sample):
        return "euc_kr", high >= _FEW
    if best >= 0.6:
        return name, high >= _FEW and best - scores[1][0] > 0.1
    return _guess(sample), False


def _others(sample: bytes, taken: str, certain: bool) -> tuple[str, ...]:
    """Other codecs that read these bytes without a fault and with another text; one-byte codecs cannot be told apart."""
    known = _ONE_BYTE if certain and taken in _ONE_BYTE else () if certain else (*_EASTERN, "euc_kr", *_ONE_BYTE)
    mine = sample.decode(taken, "replace")
    return tuple(
        name for name in known if name != taken and _can(sample, name) and sample.decode(name, "replace") != mine
    )


def _share(sample: bytes, name: str, common: Callable[[int, int], bool]) -> float:
    """Share of two-byte characters that are frequent ones in this codec, less what does not fit it at all."""
    pairs = _pairs(sample)
    if not pairs:
        return 0.0
    unfit = codecs.getincrementaldecoder(name)("replace").decode(sample).count("\ufffd")
    return (sum(common(*pair) for pair in pairs) - 3 * unfit) / len(pairs)


def _pairs(sample: bytes) -> list[tuple[int, int]]:
    return [(pair[0], pair[1]) for pair in re.findall(rb"[\x81-\xfe][\x30-\xfe]", sample, re.DOTALL)]


def _can(sample: bytes, name: str) -> bool:
    try:
        codecs.getincrementaldecoder(name)().decode(sample)
    except (UnicodeDecodeError, LookupError):
        return False
    return True


def _is_hangul(sample: bytes) -> bool:
    """Hangul of EUC-KR lies in the first half of the common Chinese characters; Chinese text uses both halves."""
    pairs = _pairs(sample)
    return len(pairs) >= 16 and all(0xB0 <= lead <= 0xC8 or lead in (0xA1, 0xA3) for lead, _ in pairs)


def _guess(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    found = from_bytes(sample).best()
    name = found.encoding if found else "cp1252"
    if name in _WESTERN:
        name = "cp1252"
    return name if _can(sample, name) else "latin-1"


def _common_chinese(lead: int, trail: int) -> bool:
    return trail >= 0xA1 and (0xB0 <= lead <= 0xD7 or 0xA1 <= lead <= 0xA3)


def _common_taiwan(lead: int, trail: int) -> bool:
    return (0xA4 <= lead <= 0xC6 or lead == 0xA1) and (0x40 <= trail <= 0x7E or trail >= 0xA1)


def _common_japanese(lead: int, trail: int) -> bool:
    kana = (lead == 0x82 and 0x4F <= trail <= 0xF1) or (lead == 0x83 and trail <= 0x96)
    return kana or 0x88 <= lead <= 0x97 or (lead == 0x81 and trail <= 0x5B)


_EASTERN: dict[str, Callable[[int, int], bool]] = {
    "gb18030": _common_chinese,
    "big5": _common_taiwan,
    "cp932": _common_japanese,
}
