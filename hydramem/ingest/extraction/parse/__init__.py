"""Relations by a dependency parse of English sentences; needs the extra `nlp`."""
