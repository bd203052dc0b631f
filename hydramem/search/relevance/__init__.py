"""How likely it is that what was found bears on a query."""
