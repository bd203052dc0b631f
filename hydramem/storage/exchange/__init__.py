"""A memory as files: dump writes them, load reads them back into either engine, without loss."""
