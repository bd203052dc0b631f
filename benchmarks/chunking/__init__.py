"""How documents are cut: what stays whole, what gets too small, what is lost, and how long it takes."""
