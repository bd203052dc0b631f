"""Fail where HydraMem, installed as a user installs it, brings a dependency of a licence we do not accept.

Looks at the closure of the distribution's own dependencies (base, the extras `ollama` and `pdf`), not at test
tools. Permissive licences pass. MPL-2.0 passes: it binds changes to its own files only. GPL and AGPL
never pass. LGPL is not waved through either: its terms on replacing the library are a burden for who
ships a bundled program, so one would need an entry, with its reason, in `EXPLAINED`.
"""

import re
import sys
from collections.abc import Iterator
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "hydramem"
EXTRAS = ("ollama", "pdf")
FORBIDDEN_PACKAGES = re.compile(r"^(torch|triton|nvidia-.*|tensorflow|transformers)$")

ACCEPTED = {
    *(
        "0BSD",
        "APACHE-2.0",
        "BSD",
        "BSD-2-CLAUSE",
        "BSD-3-CLAUSE",
        "BSL-1.0",
        "CC0-1.0",
        "CNRI-PYTHON",
        "HPND",
    ),
    *("ISC", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "PYTHON-2.0", "UNLICENSE", "ZLIB"),
}
# What distributions write instead of an SPDX identifier.
SPELLINGS = {
    r"apache([ -]software)?([ -]license)?([ ,-]*(version)?[ -]*v?2(\.0)?)?": "APACHE-2.0",
    r"(the )?mit([ -]licen[sc]e)?": "MIT",
    r"(new |modified )?bsd([ -]licen[sc]e)?": "BSD",
    r"(bsd[ -]3([ -]clause)?|3-clause bsd)([ -]licen[sc]e)?": "BSD-3-CLAUSE",
    r"mozilla public license 2\.0( \(mpl 2\.0\))?": "MPL-2.0",
    r"python software foundation license|psf(l)?": "PSF-2.0",
    r"isc license( \(iscl\))?": "ISC",
    r"the unlicense( \(unlicense\))?": "UNLICENSE",
}
# Distributions whose own metadata does not settle it, and why each is acceptable.
EXPLAINED = {
    "py-rust-stemmers": "the metadata names no licence; the LICENSE file in the wheel is MIT",
    "pypdfium2": "BSD-3-Clause and Apache-2.0, and the permissive licences of what PDFium is built from",
}


def main() -> int:
    """Print every refusal; return the exit code."""
    names = sorted(_closure(ROOT, EXTRAS))
    refusals = [refusal for name in names if (refusal := _refusal(name))]
    refusals += [
        f"{name}: is not to come with the base install" for name in names if FORBIDDEN_PACKAGES.match(name)
    ]
    for refusal in refusals:
        print(f"licences: {refusal}")
    print(f"{len(names)} dependencies looked at, {len(refusals)} refused")
    return 1 if refusals else 0


def _closure(root: str, extras: tuple[str, ...]) -> set[str]:
    """Return the names that installing `root` brings, itself left out."""
    seen: set[tuple[str, str]] = set()
    waiting = [(root, extra) for extra in ("", *extras)]
    while waiting:
        name, extra = item = waiting.pop()
        if item not in seen:
            seen.add(item)
            waiting += _needed(name, extra)
    return {name for name, _ in seen} - {root}


def _needed(name: str, extra: str) -> Iterator[tuple[str, str]]:
    for text in metadata.requires(name) or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            for wanted in ("", *requirement.extras):
                yield canonicalize_name(requirement.name), wanted


def _refusal(name: str) -> str | None:
    stated = _stated(name)
    if name in EXPLAINED or any(_acceptable(text) for text in stated):
        return None
    return (
        f"{name}: {' | '.join(stated) or 'states no licence'}; not accepted, nor explained in .ci/licences.py"
    )


def _stated(name: str) -> tuple[str, ...]:
    """Return what a distribution says of its licence, the most exact statement only."""
    about = metadata.metadata(name)
    expression = about.get("License-Expression")
    if expression:
        return (expression,)
    classifiers = [
        c.rpartition(" :: ")[2] for c in about.get_all("Classifier") or () if c.startswith("License ::")
    ]
    exact = [text for text in classifiers if text != "OSI Approved"]
    if exact:
        return (" AND ".join(exact),)
    first_line = (about.get("License") or "").strip().partition("\n")[0]
    return (first_line,) if first_line else ()


def _acceptable(text: str) -> bool:
    """Say whether a licence expression passes: all its parts, or one of a plain list of choices.

    An expression that mixes AND and OR must pass in all parts: stricter than it says, never laxer.
    """
    parts = [_accepted(part) for part in re.split(r"\s+(?:and|or)\s+", text, flags=re.IGNORECASE)]
    return all(parts) if re.search(r"\sand\s", text, flags=re.IGNORECASE) else any(parts)


def _accepted(name: str) -> bool:
    plain = " ".join(name.split())
    for pattern, identifier in SPELLINGS.items():
        if re.fullmatch(pattern, plain, flags=re.IGNORECASE):
            return identifier in ACCEPTED
    return plain.strip("() ").upper() in ACCEPTED


if __name__ == "__main__":
    sys.exit(main())
