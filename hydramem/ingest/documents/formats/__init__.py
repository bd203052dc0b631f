"""The formats of documents: decoding, HTML, transcripts, PDF, Office documents, e-books and mails."""
