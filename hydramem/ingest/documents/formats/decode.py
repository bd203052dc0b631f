"""Decodes bytes: byte-order marks, UTF-8, and a guess for the rest; tells whether bytes are text at all."""

import codecs
import re
import unicodedata

_SAMPLE = 65_536

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# How files of other kinds begin.
_MAGIC = (
    *(b"%PDF-", b"PK\x03\x04", b"\x7fELF", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"\x1f\x8b", b"BZh"),
    *(b"RIFF", b"7z\xbc\xaf", b"\xfd7zXZ", b"SQLite format 3", b"\x28\xb5\x2f\xfd", b"OggS", b"ID3"),
    *(b"PAR1", b"\xca\xfe\xba\xbe"),
)
_UNFIT = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff]|[\ud800-\udfff]")
_CONTROL_BYTES = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\x1b\x00") + b"\x7f"

# Encodings to guess between where text is not UTF-8: the common one of each script.
_CANDIDATES = [
    *("cp1252", "cp1251", "cp1250", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "iso2022_jp"),
]


def is_binary(data: bytes) -> bool:
    """Return whether bytes are anything but text in an encoding that `decode` knows."""
    if data.startswith(_MAGIC):
        return True
    if data.startswith(tuple(mark for mark, _ in _MARKS)):
        return False
    sample = data[:_SAMPLE]
    if _wide(sample) is not None:
        return False
    controls = len(sample) - len(sample.translate(None, _CONTROL_BYTES))
    return controls > len(sample) * 0.02 or sample.count(0) > len(sample) * 0.1


def decode(data: bytes) -> str:
    """Return the text of bytes; what no encoding explains becomes U+FFFD."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    wide = _wide(data[:_SAMPLE])
    if wide is not None:
        return data.decode(wide, "replace")
    text = _as_utf8(data)
    return _mixed(data) if text is None else text


def _wide(sample: bytes) -> str | None:
    """Recognise UTF-16 without a mark: every second byte of Latin text is zero."""
    half = len(sample) // 2
    if half < 2:
        return None
    even, odd = sample[0 : 2 * half : 2].count(0), sample[1 : 2 * half : 2].count(0)
    if odd > half * 0.4 and even < half * 0.05:
        return "utf-16-le"
    return "utf-16-be" if even > half * 0.4 and odd < half * 0.05 else None


def _mixed(data: bytes) -> str:
    """Decode line by line where most lines are UTF-8, as in concatenated files; else guess once."""
    lines = [line for line in data[: 4 * _SAMPLE].split(b"\n") if not line.isascii()]
    valid = sum(_as_utf8(line) is not None for line in lines)
    if 2 * valid < len(lines):
        return data.decode(_guess(data[:_SAMPLE]), "replace")
    decoded = ((line, _as_utf8(line)) for line in data.split(b"\n"))
    return "\n".join(line.decode("cp1252", "replace") if text is None else text for line, text in decoded)


def _as_utf8(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _guess(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    matches = from_bytes(sample, cp_isolation=_CANDIDATES)
    best = matches.best()
    if best is None:
        return "cp1252"
    # A short text fits several of the Latin encodings equally well; then the most common one is meant.
    common = next((match for match in matches if match.encoding == "cp1252"), best)
    equal = common.chaos <= best.chaos and common.coherence >= best.coherence
    return common.encoding if equal else best.encoding


def clean(text: str) -> str:
    """Return text that every store accepts: NFC, `\\n` alone as line end, no controls or surrogates."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii() and text.isprintable():
        return text
    text = _UNFIT.sub(
        lambda match: "\ufffd" if match.group() >= "\ud800" and match.group() < "\ue000" else "", text
    )
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)
