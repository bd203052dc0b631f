"""Where a text is cut: parts of `hydramem.text.chunking`, one for each structure."""
