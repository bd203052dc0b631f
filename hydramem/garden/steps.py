"""The phases of a night and what each does."""

from collections.abc import Mapping

from hydramem.core.types import Phase
from hydramem.garden.ground import PhaseStep

STEPS: Mapping[Phase, PhaseStep] = {}
"""By phase; `maintain` changes no rows and is handed to the night apart."""
