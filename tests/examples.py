"""How many examples a property test tries: few by default, many in the slow stage."""

from hypothesis import settings

FEW = settings(max_examples=25, stateful_step_count=20)
MANY = settings(max_examples=200)
