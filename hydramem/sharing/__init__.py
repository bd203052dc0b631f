"""One folder for many processes: what callers use in place of the code that works on an open store."""
