"""Tests of the server may be coroutines."""

from tests.coroutines import pytest_pyfunc_call as pytest_pyfunc_call
