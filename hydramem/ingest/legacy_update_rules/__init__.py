"""What a memory states, read from its words without a model, and how two statements meet.

These rules of language are to be retired: a model will decide what updates what. Nothing new may use them.
"""
