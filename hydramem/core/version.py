"""HydraMem: an embedded, graph-native memory for AI agents.

import hydramem

with hydramem.connect("notes") as memory:
    memory.remember("Ada leads the billing team.")
    print(memory.recall("who leads billing?").hits)
"""

__version__ = "0.1.0"
