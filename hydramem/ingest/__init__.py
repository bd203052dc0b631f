"""From a file or a sentence to rows: read, chunk, extract, resolve, store."""
