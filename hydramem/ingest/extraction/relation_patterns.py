"""The phrases that state a relation, each with its type and how often it is right.

A row is (type, phrase, confidence, inverse): "X PHRASE Y" states type(X, Y), or type(Y, X) where inverse.
"""

import re
from dataclasses import dataclass

_ROWS: tuple[tuple[str, str, float, bool], ...] = (
    # Works
    (
        "directed_by",
        r"(?:co-)?directed(?: and \w+)? by|(?:film|movie|drama|comedy) by (?:director )?",
        0.9,
        False,
    ),
    ("directed_by", r"(?:co-)?directed", 0.7, True),
    (
        "written_by",
        r"(?:co-)?(?:written|authored|scripted)(?: and \w+)? by|(?:novel|book|play|poem) by",
        0.9,
        False,
    ),
    ("written_by", r"(?:co-)?wrote|(?:is|was) the author of", 0.7, True),
    ("produced_by", r"(?:co-)?produced(?: and \w+)? by", 0.9, False),
    (
        "composed_by",
        r"composed(?: and \w+)? by|(?:music|score|soundtrack) (?:was |is )?(?:composed )?by",
        0.85,
        False,
    ),
    (
        "performed_by",
        r"(?:performed|recorded|sung)(?: and \w+)? by|(?:song|single|album|EP) (?:recorded )?by",
        0.85,
        False,
    ),
    ("published_by", r"(?:published|released|distributed) (?:\w+ )?by", 0.75, False),
    ("features", r"(?:starring|stars|featuring)", 0.8, False),
    ("based_on", r"(?:(?:is|was) )?(?:loosely )?(?:based (?:up)?on|adapted from|inspired by)", 0.75, False),
    ("created_by", r"(?:created|designed|developed|invented|built|programmed) by", 0.8, False),
    ("founded_by", r"(?:co-)?(?:founded|established) (?:in (?:\w+ )?\d{4} )?by", 0.85, False),
    ("founded_by", r"(?:co-)?founded", 0.75, True),
    # People
    ("born_in", r"born (?:and raised )?(?:\w+ )?in|(?:is|was) a native of", 0.85, False),
    ("born_on", r"born (?:on )?", 0.85, False),
    ("died_in", r"(?:died|killed|assassinated|murdered) (?:\w+ )?(?:in|at)", 0.8, False),
    ("died_on", r"died on", 0.85, False),
    ("buried_in", r"(?:was )?buried (?:in|at)", 0.85, False),
    ("child_of", r"(?:son|daughter|child) (?:and \w+ )?of", 0.8, False),
    ("parent_of", r"(?:father|mother|parent) of", 0.8, False),
    ("sibling_of", r"(?:half-)?(?:brother|sister|sibling|twin) of", 0.8, False),
    (
        "spouse_of",
        r"(?:wife|husband|spouse|widow|widower|consort) of|married(?: to)?|remarried",
        0.8,
        False,
    ),
    ("grandchild_of", r"(?:grandson|granddaughter|grandchild) of", 0.8, False),
    ("educated_at", r"(?:studied|graduated|educated) (?:\w+ )?(?:at|from)|attended", 0.75, False),
    ("works_for", r"(?:works|worked|working|employed) (?:for|at|by)|(?<=I )work (?:for|at)", 0.75, False),
    ("works_with", r"(?:works|worked|working|collaborates?|collaborated) (?:\w+ )?with", 0.7, False),
    ("plays_for", r"(?:plays?|played|playing) (?:\w+ )?for", 0.75, False),
    ("member_of", r"members? of|belongs? to|joined", 0.7, False),
    ("succeeded_by", r"(?:was )?succeeded by", 0.85, False),
    ("succeeded_by", r"succeeded", 0.65, True),
    ("received", r"(?:won|received|awarded|earned)", 0.55, False),
    ("nominated_for", r"nominated for", 0.7, False),
    ("lives_in", r"(?:lives?|lived|living|resides?|resided|residing) in|works from", 0.75, False),
    ("moved_to", r"(?:moved|relocated|emigrated|immigrated) (?:back )?to", 0.75, False),
    ("moved_from", r"(?:moved|relocated|emigrated) (?:here )?from", 0.7, False),
    ("met", r"(?:met|visited|called on)", 0.5, False),
    ("likes", r"likes|loves|enjoys|prefers|(?<=I )(?:like|love|enjoy|prefer)", 0.6, False),
    ("dislikes", r"dislikes|hates|(?<=I )(?:dislike|hate)", 0.6, False),
    ("has", r"(?:adopted|bought|owns an?|has an?)", 0.5, False),
    # Places and organisations
    ("capital_of", r"(?:is|was) the capital (?:city )?of|capital of", 0.85, False),
    (
        "located_in",
        r"(?:located|situated|headquartered|based|lies|lying|found) (?:\w+ )?(?:in|at|on)",
        0.75,
        False,
    ),
    ("part_of", r"(?:is|was|are|were|forms?|as) (?:a )?part of", 0.75, False),
    ("named_after", r"named (?:after|for|in honou?r of)", 0.8, False),
    (
        "owned_by",
        r"(?:is |was )?owned by|(?:is|was) (?:a )?subsidiary of|(?:is |was )?acquired by|belongs to",
        0.8,
        False,
    ),
    ("owned_by", r"owns|acquired|owns? the", 0.7, True),
    # Teams and software
    (
        "leads",
        r"(?:leads?|heads?|runs|manages|managed|leading|took over"
        r"|(?:is|was) (?:the )?(?:head|leader|lead|manager|CEO|CTO|president|director) of)",
        0.75,
        False,
    ),
    ("leads", r"(?:is |was )?(?:led|headed|managed|run) by", 0.8, True),
    ("reports_to", r"reports? to", 0.8, False),
    ("maintains", r"(?:maintains?|looks? after|(?:is )?responsible for|(?:is )?in charge of)", 0.75, False),
    ("maintains", r"(?:is |was )?(?:maintained|looked after) by", 0.8, True),
    ("depends_on", r"(?:depends?|relies|rely|depended|relied|builds?|sits) (?:up)?on|requires?", 0.8, False),
    (
        "uses",
        r"(?:uses|use|used|using|calls|talks to|connects to"
        r"|reads (?:\w+ )?from|writes (?:\w+ )?to|subscribes to|publishes to)",
        0.65,
        False,
    ),
    ("runs_on", r"(?:runs?|running|ran|deployed|hosted) (?:on|in|at)", 0.7, False),
    (
        "stored_in",
        r"(?:(?:is|are|was|were) )?(?:stored|kept|saved|persisted"
        r"|stores (?:\w+ ){1,4}|keeps (?:\w+ ){1,4}) ?in",
        0.7,
        False,
    ),
    ("written_in", r"(?:written|implemented|coded|built) (?:in|with|on)", 0.7, False),
    ("migrated_from", r"(?:switched|migrated|moved) (?:\w+ ){0,3}(?:away )?from", 0.7, False),
    ("migrated_to", r"(?:switched|migrated|migrating|switching)(?: \w+){0,3} to", 0.75, False),
    ("replaced_by", r"(?:is |was |are |were |being )?replaced (?:by|with)", 0.8, False),
    ("replaced_by", r"replace[sd]?|superseded?s?", 0.7, True),
    ("decided_on", r"(?:decided on|settled on|chose|picked|went with)", 0.65, False),
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A row of the table, by the number of its group in the trigger expression."""

    type: str
    confidence: float
    inverse: bool


PATTERNS = tuple(Pattern(type, confidence, inverse) for type, _, confidence, inverse in _ROWS)

# Longer phrases come first in their family, since the first alternative that fits is taken.
TRIGGER = re.compile(
    r"(?<![\w-])(?:" + "|".join(f"({phrase.strip()})" for _, phrase, _, _ in _ROWS) + r")(?![\w-])"
)

# What the type of a relation says about its ends: (subject, object).
END_TYPES: dict[str, tuple[str, str]] = {
    "directed_by": ("work", "person"),
    "written_by": ("work", "person"),
    "composed_by": ("work", "person"),
    "performed_by": ("work", ""),
    "features": ("work", "person"),
    "born_in": ("person", "place"),
    "born_on": ("person", "date"),
    "died_on": ("person", "date"),
    "died_in": ("person", ""),
    "buried_in": ("person", "place"),
    "child_of": ("person", "person"),
    "parent_of": ("person", "person"),
    "sibling_of": ("person", "person"),
    "spouse_of": ("person", "person"),
    "grandchild_of": ("person", "person"),
    "educated_at": ("person", "organization"),
    "works_for": ("person", "organization"),
    "plays_for": ("person", "organization"),
    "lives_in": ("", "place"),
    "capital_of": ("place", "place"),
}

# Relations that only a date, or never a date, can complete.
DATED = frozenset({"born_on", "died_on"})

# Participles that belong to the work a sentence is about, whichever name stands before them.
OF_THE_WORK = frozenset(
    {
        "directed_by",
        "written_by",
        "produced_by",
        "composed_by",
        "performed_by",
        "published_by",
        "features",
        "based_on",
    }
    | {"created_by", "founded_by"}
)

# Verbs of the sentence: after an aside in commas they go on with what the sentence is about.
FINITE = frozenset(
    {
        "moved_to",
        "moved_from",
        "lives_in",
        "works_for",
        "works_with",
        "plays_for",
        "member_of",
        "leads",
        "maintains",
    }
    | {
        "depends_on",
        "uses",
        "runs_on",
        "received",
        "educated_at",
        "died_in",
        "died_on",
        "met",
        "likes",
        "dislikes",
    }
    | {"has", "migrated_to", "migrated_from", "decided_on", "reports_to"}
)

# Relations that may list several objects: "stars A, B and C".
LISTED = frozenset(
    {
        "features",
        "directed_by",
        "written_by",
        "produced_by",
        "composed_by",
        "parent_of",
        "child_of",
        "uses",
        "depends_on",
    }
    | {"founded_by", "performed_by", "leads", "maintains", "written_in", "likes", "received", "nominated_for"}
)
