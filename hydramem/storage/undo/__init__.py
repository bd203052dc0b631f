"""Taking back what a run wrote: its images are read, set against the rows as they are, and written anew."""
