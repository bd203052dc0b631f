"""What a memory states, read from its words without a model, and how two statements relate.

These rules of language are to be retired. Nothing new may use them.
"""
