"""Mails: headers, the date as a moment, alternatives, encodings, attachments, forwarded mails."""

from datetime import UTC, datetime
from email.message import EmailMessage

import pytest

from hydramem.ingest.documents.formats.document_text import UnreadableError
from hydramem.ingest.documents.formats.eml import read_eml
from tests.ingest.documents.formats.packages import LIMIT

NESTED = b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n"


def mail(subject: str = "Überholung") -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Ada Lovelace <ada@example.org>"
    message["To"] = "Grace <grace@example.org>"
    message["Subject"] = subject
    message["Date"] = "Fri, 1 May 2026 11:00:00 +0200"
    message.set_content("The engine is ready.\n")
    return message


def test_headers_become_title_lines_and_moment():
    read = read_eml(mail().as_bytes(), max_bytes=LIMIT)
    assert read.title == "Überholung"
    assert read.happened_at == datetime(2026, 5, 1, 9, tzinfo=UTC)
    assert read.metadata == {"author": "Ada Lovelace <ada@example.org>"}
    assert read.text == (
        "# Überholung\n\nFrom: Ada Lovelace <ada@example.org>\nTo: Grace <grace@example.org>\n"
        "Date: 2026-05-01 09:00 UTC\n\nThe engine is ready.\n"
    )


def test_plain_text_is_taken_of_alternatives_and_html_where_it_is_alone():
    both = mail()
    both.add_alternative("<p>Rich</p>", subtype="html")
    assert "Rich" not in read_eml(both.as_bytes(), max_bytes=LIMIT).text
    rich = mail()
    rich.set_content("<h2>News</h2><p>It <b>runs</b>.</p>", subtype="html")
    assert read_eml(rich.as_bytes(), max_bytes=LIMIT).text.endswith("## News\n\nIt runs.\n")


def test_attachments_are_named_and_forwarded_mails_are_read():
    message = mail()
    message.add_attachment(b"\x00\x01", maintype="application", subtype="pdf", filename="Plan.pdf")
    message.add_attachment("secret notes", filename="notes.txt")
    message.add_attachment(mail("Inner"))
    text = read_eml(message.as_bytes(), max_bytes=LIMIT).text
    assert "Attachments: Plan.pdf, notes.txt" in text
    assert "secret notes" not in text
    assert text.count("The engine is ready.") == 2


def test_a_charset_and_a_date_that_are_none_do_not_matter():
    data = b'From: a@b.c\nDate: some day 9\nContent-Type: text/plain; charset="x-unknown"\n\nHello there'
    read = read_eml(data, max_bytes=LIMIT)
    assert (read.text.endswith("Hello there\n"), read.happened_at) == (True, None)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"nothing of a mail\n", "no header"),
        (b"From: a@b.c\nContent-Type: multipart/encrypted; boundary=x\n\n--x\n\ny\n--x--\n", "encrypted"),
        (b"From: a@b.c\nContent-Type: application/pkcs7-mime\n\nMIIB\n", "encrypted"),
        (b"From: a@b.c\n" + b"".join(NESTED % (n, n) for n in range(3000)), "deeply"),
    ],
)
def test_what_is_no_readable_mail_says_why(data: bytes, reason: str):
    with pytest.raises(UnreadableError, match=reason):
        read_eml(data, max_bytes=LIMIT)
