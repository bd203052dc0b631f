"""Words for full text: the ones that are not indexed, and the plain tokenizer of the in-memory store."""

# The function words of English that occur in nearly every text. Digits and single letters stay: they are
# names (`C`, hall 3). `s`, `t` and the like are what remains of `it's` and `don't`.
_FUNCTION_WORDS = """
a about an and are as at be been but by can could did do does for from had has have he her hers him his
how i if in into is it its me my no nor not of on or our ours she should so some such than that the
their theirs them then there these they this those to too us was we were what when where which while who
whom whose why will with would you your yours ll re s t ve
"""

STOP_WORDS = frozenset(_FUNCTION_WORDS.split())

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

# Words that are names only by accident: a question is never about them.
_COMMON = """
    a about after again all also am an and any are as at be because been before being between both but by
    can could did do does doing down during each few first for from further had has have having he her here
    hers him his how i if in into is it its just last me might more most must my name no nor not now of off
    on once only or other our out over own same she should so some such than that the their them then there
    these they this those through to too under until up very was we were what when where which while who
    whom whose why will with would yes you your
"""

COMMON_WORDS = frozenset(_COMMON.split())

MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october"),
    *("november", "december"),
)

_NEGATIONS = frozenset(
    ["not", "never", "no", "neither", "nor", "denied", "denies", "cannot", "hardly", "nobody"]
)
