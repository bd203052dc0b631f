"""Reads a mail: its subject as the title, sender, receivers and date above the text, the date as its moment.

Source: RFC 5322 and RFC 2045 to 2047, by the standard library's lenient parser.
"""

from datetime import UTC, datetime
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime

from hydramem.ingest.documents.formats.decode import decode
from hydramem.ingest.documents.formats.document_text import (
    DocumentText,
    MarkdownText,
    UnreadableError,
    one_line,
)
from hydramem.ingest.documents.formats.html import as_markdown

# The parser's work grows with how deep parts are in parts: a chain of forwarded mails has some dozens.
_MOST_BOUNDARIES = 200
_MOST_HEADER = 2000
_SHOWN = ("From", "To", "Cc")


def read_eml(data: bytes, *, max_bytes: int) -> DocumentText:
    """Return a mail as Markdown; attachments are named, not read.

    Raises:
        UnreadableError: It has no header of a mail, is encrypted, or over a limit.
    """
    if data.lower().count(b"boundary=") > _MOST_BOUNDARIES:
        raise UnreadableError(f"nested too deeply: over {_MOST_BOUNDARIES} parts in parts")
    try:
        mail = message_from_bytes(data)
        parts = _leaves(mail)
    except (RecursionError, ValueError) as error:
        raise UnreadableError("broken: its parts cannot be told apart") from error
    if not any(name in mail for name in ("From", "Date", "Subject", "To")):
        raise UnreadableError("broken: it has no header of a mail")
    text = MarkdownText(max_bytes)
    subject = _header(mail, "Subject")
    text.heading(1, subject)
    moment = _moment(mail)
    lines = [f"{name}: {words}" for name in _SHOWN if (words := _header(mail, name))]
    if moment is not None:
        lines.append(f"Date: {moment:%Y-%m-%d %H:%M} UTC")
    text.paragraph("\n".join(lines))
    for part in parts:
        _add_part(part, text)
    names = [name for part in parts if (name := _attached(part))]
    text.paragraph(f"Attachments: {', '.join(names)}" if names else "")
    return DocumentText(
        title=subject,
        text=text.text(),
        happened_at=moment,
        metadata={"author": sender} if (sender := _header(mail, "From")) else {},
    )


def _leaves(mail: Message) -> list[Message]:
    """Return the parts that hold content, in order; of alternatives the plain text where there is one."""
    leaves: list[Message] = []
    waiting = [mail]
    while waiting:
        part = waiting.pop()
        kind = part.get_content_type()
        if kind == "multipart/encrypted" or (kind.endswith("/pkcs7-mime") and _is_enveloped(part)):
            raise UnreadableError("encrypted")
        inner = part.get_payload() if part.is_multipart() else None
        if not isinstance(inner, list):
            leaves.append(part)
            continue
        found = [each for each in inner if isinstance(each, Message)]
        if kind == "multipart/alternative":
            plain = [each for each in found if each.get_content_type() == "text/plain"]
            plain = [each for each in plain if _words(each).strip()]
            found = plain[:1] or found[-1:]
        waiting.extend(reversed(found))
    return leaves


def _is_enveloped(part: Message) -> bool:
    return str(part.get_param("smime-type") or "enveloped-data").lower() == "enveloped-data"


def _add_part(part: Message, text: MarkdownText) -> None:
    if _attached(part):
        return
    kind = part.get_content_type()
    if kind == "text/html":
        text.markdown(as_markdown(_words(part)).text)
    elif part.get_content_maintype() == "text":
        text.paragraph(_words(part).replace("\r\n", "\n"))


def _attached(part: Message) -> str:
    """Return the name of an attachment; empty for a part that is shown in the mail."""
    name = part.get_filename()
    if name is None and part.get_content_disposition() != "attachment":
        return ""
    return one_line(_decoded(name or part.get_content_type()))[:200]


def _words(part: Message) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset()
    try:
        return data.decode(charset, "replace") if charset else decode(data)
    except (LookupError, ValueError):  # an encoding that is none, or that Python does not know
        return decode(data)


def _header(mail: Message, name: str) -> str:
    return one_line(_decoded(str(mail.get(name, ""))[:_MOST_HEADER]))


def _decoded(value: str) -> str:
    """Return a header with its encoded words as text."""
    try:
        pieces = decode_header(value)
    except (HeaderParseError, ValueError):
        return value
    words = ""
    for piece, charset in pieces:
        if isinstance(piece, str):
            words += piece
            continue
        try:
            words += piece.decode(charset or "ascii", "replace")
        except (LookupError, ValueError):
            words += decode(piece)
    return words


def _moment(mail: Message) -> datetime | None:
    try:
        moment = parsedate_to_datetime(str(mail.get("Date", "")))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
