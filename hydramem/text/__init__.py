"""Human language: tokens, sentences, names, dates and word lists; nothing here reads a store."""
