"""One folder, many processes: the process that holds a store serves it, the others are clients of it."""
