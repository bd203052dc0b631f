"""Documents and transcripts: read, cut into chunks, compared with what is stored, and stored."""
