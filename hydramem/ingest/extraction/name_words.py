"""Word lists and character classes that the extraction rules share."""

import sys
from itertools import groupby

from hydramem.text.lexicon import MONTHS


def _ranges(codes: list[int]) -> str:
    parts = []
    for _, run in groupby(enumerate(codes), key=lambda pair: pair[1] - pair[0]):
        members = [code for _, code in run]
        parts.append(f"\\u{members[0]:04x}-\\u{members[-1]:04x}")
    return "".join(parts)


# Every capital letter of the Basic Multilingual Plane, so that Ада and Élise are names as Ada is.
UPPER = "[" + _ranges([code for code in range(min(0x10000, sys.maxunicode)) if chr(code).isupper()]) + "]"

_PRONOUNS_LIST = """
    he she it they his her its their him them this these those who which that himself herself itself
"""

PRONOUNS = frozenset(_PRONOUNS_LIST.split())

FIRST_PERSON = frozenset(["i", "we", "my", "our", "me", "us", "mine", "ours"])

_FUNCTION_WORDS_LIST = """
    a an the and or but nor so yet for if then else when while where whereas why how what whose whom in
    on at by to from of off with without within into onto over under after before during since until
    till about above across against along among around as because behind below beneath beside besides
    between beyond despite down except inside like near outside per plus than through throughout toward
    towards up upon via although though unless whether once also again already always another any anyone
    anything both each either enough even ever every everyone everything few first second third finally
    further had has have having here however indeed instead is are was were am be been being isn aren
    wasn weren do does did don doesn didn doing done just last later least less let lets many maybe me
    might more most moreover much must my neither never nevertheless next no nobody none not nothing now
    often one ones only other others otherwise our out own perhaps please quite rather really same
    several shall should similarly some someone something sometimes soon still such there thereafter
    therefore thus today tomorrow tonight together too two three four five usually very was we well will
    would yes yesterday you your yours yourself can could couldn cannot may monday tuesday wednesday
    thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays oh
    hey hi hello wow yeah yep nope ok okay thanks thank sorry sure congrats absolutely definitely
    actually basically currently recently originally eventually additionally according early late
    meanwhile overall see note todo fixed added changed removed got get gets going gone make makes made
    take takes took keep keeps kept use used uses using try tried that'll i'd i'll i'm i've it's that's
    he's she's they're we're you're there's let's what's
"""

# Words that a sentence may start with, and that are never a name by themselves.
FUNCTION_WORDS = PRONOUNS | FIRST_PERSON | frozenset(MONTHS) | frozenset(_FUNCTION_WORDS_LIST.split())

_COMMON_STARTS_LIST = """
    new old great good nice cool awesome amazing big small high low long short full free open best
    better true people water time things work life family kids music money food home house school day
    days week month year years students users user researchers scientists members children women men man
    woman critics fans players data code tests test files file results issue issues bug bugs error
    errors version example examples step option options part section chapter table figure image photo
    picture question answer everything nature speaking talking going looking working using based given
    depending located situated born set built known
"""

# Capitalised at a sentence's start these prove nothing, yet they begin names ("New York") elsewhere.
COMMON_STARTS = frozenset(_COMMON_STARTS_LIST.split())

# Lower-case words that may stand inside a name.
PARTICLES = (
    "of|the|de|del|della|dei|di|da|do|dos|das|du|des|van|von|vom|der|den|ter|ten|zu|zur|la|le|las|los|el|al|bin|bint"
    "|ibn|ben|y|af|av|ap|ab|ferch"
)

_HONORIFICS_LIST = """
    king queen prince princess duke duchess count countess earl baron baroness marquis marquess lord
    lady sir dame emperor empress tsar pope saint st. president senator governor general captain colonel
    major admiral dr. mr. mrs. ms. prof. professor bishop archbishop cardinal judge chancellor minister
"""

# Ranks that may stand before a name without being part of it.
HONORIFICS = frozenset(_HONORIFICS_LIST.split())

# Titles that follow a name and a comma and belong to it: "Arnulf I, Count of Flanders".
RANKS = (
    "King|Queen|Prince|Princess|Duke|Duchess|Count|Countess|Earl|Baron|Baroness|Marquis|Marquess|Viscount|Lord|Lady"
    "|Emperor|Empress|Landgrave|Margrave|Elector|Grand|Bishop|Archbishop|Abbot|Sultan|Dauphin|Infanta|Infante"
)

# What a sentence "X is a ... NOUN" says about the type of X.
NOUN_TYPES = {
    noun: kind
    for kind, nouns in {
        "person": """
            actor actress singer songwriter musician composer director filmmaker producer screenwriter
            writer author novelist poet journalist playwright politician lawyer judge senator president
            footballer player cricketer athlete swimmer boxer wrestler coach manager king queen prince
            princess duke duchess count countess emperor empress noble nobleman noblewoman bishop
            archbishop priest monk saint nun theologian philosopher scientist physicist chemist
            mathematician biologist engineer developer programmer architect painter sculptor artist
            dancer model comedian presenter businessman businesswoman entrepreneur professor teacher
            doctor nurse soldier general officer admiral explorer historian economist designer
            photographer rapper drummer guitarist pianist conductor editor cinematographer animator
            ruler lady lord consort daughter son member woman man person colleague friend sister brother
            mother father wife husband
        """,
        "place": """
            city town village municipality commune county district province state country region island
            mountain river lake valley hamlet suburb settlement neighborhood neighbourhood capital
            community borough parish port peninsula forest park street road station airport
        """,
        "organization": """
            company corporation organization organisation band group team club university college school
            institute agency party studio label publisher newspaper magazine foundation museum library
            church bank league federation association committee network channel airline orchestra
        """,
        "work": """
            film movie song single album novel book play opera poem painting series sitcom show
            documentary musical symphony comic anime manga game episode soundtrack story essay
        """,
        "software": """
            service database framework package module tool server api application app language protocol
            platform plugin compiler editor daemon cache queue repository cli sdk
        """,
        "event": """
            battle war election festival tournament championship season conference treaty siege race
            ceremony
        """,
    }.items()
    for noun in nouns.split()
}
