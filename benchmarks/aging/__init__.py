"""A memory as a year of use leaves it, what that costs recall, and what nights of the gardener give back."""
