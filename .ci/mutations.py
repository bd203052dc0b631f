#!/usr/bin/env python3
"""Fail where the tests of a module notice too few changes to it.

Each mutant is one small change to one module: another operator or number, a condition turned round, a
statement or an argument left out. A mutant is killed when a test of that module fails, or takes too long.
`mutations.toml` names the modules, their tests and the mutants that change no behaviour, each with a reason.

No file is changed: a child process imports the mutated source in place of the module. The parent has
imported the libraries beforehand and never the package, so that a child starts in a fraction of a second.

    .ci/mutations.py                        a sample, the same for the same seed
    .ci/mutations.py --sample 200 --seed 7  another one
    .ci/mutations.py --all                  every mutant of every module
    .ci/mutations.py --only fusion --list   what was or would be changed in one module
"""

import argparse
import importlib
import os
import random
import resource
import signal
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import parso
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import MutationVisitor
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parent.parent
CONFIGURATION = Path(__file__).with_suffix(".toml")

SAMPLE = 120
"""Mutants that are tried unless told otherwise: two minutes on one core."""

LEAST_SECONDS = 20
"""CPU time that a mutant's tests get at least; beyond that, four times what they take without a change."""

WALL_SECONDS = 300
"""A child that waits for ever without work is ended after this time."""

MOST_BYTES = 6 * 2**30
"""Address space of a child: a changed number may ask for an array without end."""

CHECKS = ("dtype", "encoding")
"""Arguments that say again what is so: no test of behaviour can miss them. They are left alone."""

# One or two changes of each operator: of eleven replacements of a `+` most fail at once and prove nothing.
OPERATORS = [
    *(f"ReplaceBinaryOperator_{change}" for change in ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul")),
    *(f"ReplaceBinaryOperator_{change}" for change in ("FloorDiv_Mul", "Mod_FloorDiv", "Pow_Mul")),
    *(f"ReplaceBinaryOperator_{change}" for change in ("BitAnd_BitOr", "BitOr_BitAnd", "RShift_LShift")),
    *(f"ReplaceComparisonOperator_{change}" for change in ("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is")),
    *(f"ReplaceComparisonOperator_{change}" for change in ("Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt")),
    *(f"ReplaceUnaryOperator_{change}" for change in ("USub_UAdd", "Delete_Not", "Delete_Invert")),
    *("AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd"),
    *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "NumberReplacer", "ZeroIterationForLoop"),
]


class RemoveStatement(Operator):
    """Leaves out a call, or an assignment to something that outlives the function."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        """Yield where a statement may go."""
        if node.parent is None or node.parent.type != "simple_stmt":
            return
        call = node.type in ("power", "atom_expr") and node.children[-1].type == "trailer"
        assigns = node.type == "expr_stmt" and node.children[1].type == "operator"
        target = node.children[0].get_code() if assigns else ""
        if call or (assigns and (node.children[1].value != "=" or "." in target or "[" in target)):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Put `pass` in its place."""
        return parso.python.tree.Name("pass", node.start_pos, node.get_first_leaf().prefix)

    @classmethod
    def examples(cls) -> Sequence[Any]:
        """Nothing to show."""
        return ()


class RemoveKeywordArgument(Operator):
    """Leaves out an argument given by name, so that its default holds."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        """Yield where an argument may go."""
        if node.type == "argument" and node.children[1].type == "operator" and node.children[1].value == "=":
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Put an empty mapping in its place."""
        return parso.python.tree.Name("**{}", node.start_pos, node.get_first_leaf().prefix)

    @classmethod
    def examples(cls) -> Sequence[Any]:
        """Nothing to show."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A module, and the tests that are to notice a change to it."""

    path: str
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        """The module as it is imported."""
        return self.path.removesuffix(".py").replace("/", ".")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place that an operator can change: the number of it among all that the operator finds."""

    target: Target
    operator: Operator
    occurrence: int
    position: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A module with one change; `before` and `after` are the first line that differs."""

    target: Target
    code: str
    line: int
    before: str
    after: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What the configuration names a mutant by: its module and the line, before and after."""
        return self.target.path, self.before, self.after

    def __str__(self) -> str:
        return f"{self.target.path}:{self.line}\n    - {self.before}\n    + {self.after}"


def places(target: Target) -> list[Place]:
    """Return where a module can be changed, from top to bottom."""
    names = [f"core/{name}" for name in OPERATORS]
    tree = get_ast((ROOT / target.path).read_text(encoding="utf-8"))
    found = []
    for operator in (each() for each in (*map(get_operator, names), RemoveStatement, RemoveKeywordArgument)):
        nodes = [node for node in ast_nodes(tree) for _ in operator.mutation_positions(node)]
        for occurrence, node in enumerate(nodes):
            if not _is_declaration(node):
                where = {"occurrence": occurrence, "position": node.start_pos}
                found.append(Place(target=target, operator=operator, **where))
    return sorted(found, key=lambda place: place.position)


def mutated(place: Place) -> Mutant:
    """Return the module changed at one place."""
    source = (ROOT / place.target.path).read_text(encoding="utf-8")
    code = MutationVisitor.mutate_code(source, place.operator, place.occurrence)
    both = zip(source.splitlines(), code.splitlines(), strict=False)
    row, (before, after) = next((row, lines) for row, lines in enumerate(both) if lines[0] != lines[1])
    texts = {"before": before.strip(), "after": " ".join(after.split())}
    return Mutant(target=place.target, code=code, line=row + 1, **texts)


def _is_declaration(node: Any) -> bool:
    """Say whether a node does nothing: a type, a decorator, a check, the `*` before named arguments."""
    if node.parent is not None and node.parent.type in ("parameters", "param", "lambdef"):
        return node.type == "operator"
    while node.parent is not None:
        above = node.parent
        if node.type == "argument" and getattr(node.children[0], "value", "") in CHECKS:
            return True
        if (
            above.type == "decorator"
            or (above.type == "annassign" and node is above.children[1])
            or (above.type == "tfpdef" and node is above.children[-1])
            or (above.type == "funcdef" and node is above.annotation)
        ):
            return True
        node = above
    return False


class _MutatedSource(SourceLoader, MetaPathFinder):
    """Imports one module from a changed source."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        """Answer for the one module."""
        return spec_from_loader(name, self) if name == self._mutant.target.name else None

    def get_filename(self, name: str) -> str:
        """Return where the unchanged source is."""
        return str(ROOT / self._mutant.target.path)

    def get_data(self, path: str) -> bytes:
        """Return the changed source."""
        return self._mutant.code.encode()


def start(target: Target, mutant: Mutant | None, seconds: int) -> int:
    """Run a module's tests in a child, the module changed; return the child's process id."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    sink = os.open(os.devnull, os.O_RDWR)
    for stream in range(3 if mutant is not None else 1):
        os.dup2(sink, stream)
    if mutant is not None:
        sys.meta_path.insert(0, _MutatedSource(mutant))
    import pytest

    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "--timeout", str(WALL_SECONDS // 3)]
    options += ["--hypothesis-profile", "mutations", "--hypothesis-seed", "0", "--tb", "line"]
    # What these would bring costs more than the tests: plugins, fixtures of others, assertions in full.
    options += ["-p", "pytest_timeout", "-p", "_hypothesis_pytestplugin", "--noconftest", "--assert", "plain"]
    code = 1
    try:
        code = pytest.main([*options, *target.tests])
    finally:
        sys.stdout.flush()
        os._exit(int(code))


def prepare(libraries: Sequence[str], compiled: str) -> None:
    """Import what every child needs, but the package itself, whose modules are compiled once."""
    sys.pycache_prefix, sys.dont_write_bytecode = compiled, False
    os.chdir(ROOT)
    os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    sys.path.insert(0, str(ROOT))
    for name in libraries:
        importlib.import_module(name)
    from hypothesis import Phase, settings

    # A failing example proves enough as it is found: it is neither made smaller nor kept.
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutations", deadline=None, database=None, phases=phases, max_examples=60)


def baseline(targets: Sequence[Target]) -> dict[tuple[str, ...], int]:
    """Run all tests without a change; return the seconds of CPU time that each set of tests may take."""
    limits: dict[tuple[str, ...], int] = {}
    for target in targets:
        if target.tests in limits:
            continue
        _, status, usage = os.wait4(start(target, None, 10 * LEAST_SECONDS), 0)
        if status != 0:
            raise SystemExit(f"mutations: {' '.join(target.tests)} fail without any change")
        limits[target.tests] = max(LEAST_SECONDS, int(4 * (usage.ru_utime + usage.ru_stime)))
    return limits


def survivors(
    chosen: Sequence[Mutant], limits: dict[tuple[str, ...], int], jobs: int, *, verbose: bool
) -> list[Mutant]:
    """Return the mutants that no test notices, some children at a time."""
    running: dict[int, tuple[Mutant, float]] = {}
    waiting, alive, done = list(reversed(chosen)), list[Mutant](), 0
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            child = start(mutant.target, mutant, limits[mutant.target.tests])
            running[child] = mutant, time.monotonic()
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            _end_overdue(running)
            time.sleep(0.01)
            continue
        mutant, _ = running.pop(child)
        done += 1
        if status == 0:
            alive.append(mutant)
            print(f"survives: {mutant}", flush=True)
        if verbose and done % 50 == 0:
            print(f"  {done} of {len(chosen)}, {len(alive)} survive", flush=True)
    return alive


def _end_overdue(running: dict[int, tuple[Mutant, float]]) -> None:
    for child, (_, begun) in running.items():
        if time.monotonic() - begun > WALL_SECONDS:
            os.killpg(child, signal.SIGKILL)


def configured() -> tuple[dict[str, Any], list[Target]]:
    """Read the configuration; a module that is not there any more is an error."""
    settings = tomllib.loads(CONFIGURATION.read_text(encoding="utf-8"))
    targets = [Target(path=each["path"], tests=tuple(each["tests"])) for each in settings["module"]]
    gone = [path for each in targets for path in (each.path, *each.tests) if not (ROOT / path).exists()]
    if gone:
        raise SystemExit(f"mutations: {CONFIGURATION.name} names what is not there: {', '.join(gone)}")
    return settings, targets


def sampled(every: Sequence[Place], size: int | None, seed: int) -> list[Place]:
    """Return a sample, the same for the same seed; each place is as likely as any other."""
    if size is None or size >= len(every):
        return list(every)
    chosen = random.Random(seed).sample(range(len(every)), size)  # noqa: S311 (no secret is drawn)
    return [every[place] for place in sorted(chosen)]


def main() -> int:
    """Print what survives and how many were killed; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=SAMPLE, help="most mutants to try")
    parser.add_argument("--all", action="store_true", help="try every mutant")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--only", default="", help="only modules whose path has this in it")
    parser.add_argument("--list", action="store_true", help="print the mutants and try none")
    given = parser.parse_args()
    size = None if given.all else given.sample
    settings, targets = configured()
    targets = [target for target in targets if given.only in target.path]
    every = sampled([place for target in targets for place in places(target)], size, given.seed)
    equivalent = {
        (one["path"], one["before"], after) for one in settings["equivalent"] for after in one["after"]
    }
    made = [mutated(place) for place in every]
    chosen = [mutant for mutant in made if mutant.key not in equivalent]
    if size is None:
        for key in sorted(equivalent - {mutant.key for mutant in made}):
            if given.only in key[0]:
                print("excluded, but there is no such mutant:", *key, sep="\n    ")
    if given.list:
        print(*chosen, f"{len(chosen)} mutants", sep="\n")
        return 0
    with TemporaryDirectory() as compiled:
        prepare(settings["libraries"], compiled)
        alive = survivors(chosen, baseline(targets), given.jobs, verbose=size is None)
    for target in targets:
        tried = sum(mutant.target == target for mutant in chosen)
        killed = tried - sum(mutant.target == target for mutant in alive)
        print(f"{target.path}: {killed} of {tried} killed")
    share = 1 - len(alive) / max(len(chosen), 1)
    print(f"{len(chosen) - len(alive)} of {len(chosen)} mutants killed, {share:.1%}")
    return 0 if share >= settings["least_killed"] else 1


if __name__ == "__main__":
    sys.exit(main())
