"""The tests mirror the tree of the package."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
