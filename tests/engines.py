"""Which graph engine a test uses; HYDRAMEM_TEST_ENGINE names one (ladybug, kuzu, postgres) for a whole run.

Tests of storage, of faults and of compatibility use an engine on disk, as do those whose store outlives the
process that made it. All others use the store in memory, which keeps the same contract, unless an engine is
named. Two of the engines crash in one process, so a run sees one.
"""

import os

_NAMED = os.environ.get("HYDRAMEM_TEST_ENGINE")
DISK_ENGINE = _NAMED or "ladybug"
ENGINE = _NAMED or "memory"
