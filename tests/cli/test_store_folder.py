"""A new folder of a memory is its user's alone, whichever command makes it."""

import os
import sys

import pytest

import hydramem
from tests.cli.conftest import process
from tests.sharing.background_owners import no_owner_left

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such rights")


@pytest.fixture(autouse=True)
def usual_mask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def rights(folder):
    return folder.stat().st_mode & 0o777


@pytest.mark.parametrize(
    "words",
    ["init", "config set search.min_relevance 0.3", "remember Billing."],
    ids=lambda words: words.split()[0],
)
def test_nobody_else_can_enter_a_new_folder(shell, store, words):
    shell.ok(*words.split())
    assert rights(store) == 0o700


@pytest.mark.costly  # processes
def test_nobody_else_can_enter_the_folder_of_an_owner_or_read_its_key(store):
    with no_owner_left(store):
        done = process("serve", "--background")
        assert done.returncode == 0, done.stderr
        assert (rights(store), rights(store / "owner.json")) == (0o700, 0o600)


def test_a_folder_that_is_there_keeps_its_rights(store):
    store.mkdir()
    hydramem.connect(store).close()
    assert rights(store) == 0o755
