"""The formats of documents: decoding, HTML pages, and chat transcripts."""
