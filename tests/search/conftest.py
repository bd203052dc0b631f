"""Deep recall is tried on the memories that verification is tried on."""

from tests.verification.conftest import connect as connect
