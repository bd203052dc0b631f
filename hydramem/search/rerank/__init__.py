"""The best candidates in a new order, by a model that reads them with the query."""
