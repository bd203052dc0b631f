"""What phases share: proposals, plans as files, contexts, and what is left alone."""
