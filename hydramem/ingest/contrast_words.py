"""Words of English, German and Spanish that decide how two sentences are set against each other."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


INDEFINITE = _words("a an some another any ein eine einen einem einer eines un una unos unas otro otra")

ARTICLES = INDEFINITE | _words("the der die das den dem des el la los las lo")

SUPPORT = _words("do does did will longer anymore mehr ya")
"""What a negation brings along, or takes away."""

NEGATIONS = _words(
    "not no never none neither cannot without nicht kein keine keinen keinem keiner keines nie niemals ohne "
    "nunca jamás tampoco sin ningún ninguna ninguno"
)

OPPOSITES = dict(
    pair.split(">")
    for pair in _words(
        "disabled>enabled closed>open forbidden>allowed false>true absent>present "
        "deaktiviert>aktiviert geschlossen>offen verboten>erlaubt falsch>richtig "
        "desactivado>activado desactivada>activada cerrado>abierto cerrada>abierta "
        "prohibido>permitido prohibida>permitida"
    )
)

PRONOUNS = _words(
    "it he she they this that these those there here its his her their er sie es dies diese dieser dort hier "
    "ihr ihre sein seine él ella ello ellos ellas esto eso este esta su sus ahí aquí"
)

SPEAKERS = _words("i we my our ich wir mein meine unser unsere yo nosotros mi mis nuestro nuestra nuestros")

OPENERS = _words(
    "if when whenever unless suppose maybe perhaps please wenn falls ob sobald vielleicht bitte si cuando "
    "quizás quizá ojalá what who where why how which wer was wo warum wie qué quién dónde cómo on in at "
    "during am im bei während durante"
)
"""What makes a sentence no plain statement, or sets it at a time of its own."""

RELATIVES = _words(
    "that which who whose where when if because e.g dass weil wenn que quien donde cuando porque"
)
"""What begins a clause of its own: its verbs tell nothing of the sentence's subject."""

COPULAS = _words("is are ist sind bin es son está están soy")

PAST_COPULAS = _words("was were war waren wurde wurden era eran fue fueron estaba estaban")

STATIVE = _words(
    "has have had costs cost takes take weighs weigh measures measure holds hold contains contain seats seat "
    "counts lasts last equals needs requires allows supports listens runs uses stores keeps "
    "returns stays expires "
    "hat haben kostet kosten dauert dauern wiegt wiegen misst fasst enthält zählt braucht benötigt erlaubt "
    "unterstützt läuft verwendet nutzt speichert beträgt gilt gelten "
    "tiene tienen cuesta cuestan dura duran tarda pesa pesan mide contiene cuenta necesita permite admite "
    "escucha usa utiliza guarda funciona vale"
)
"""Verbs that tell how much or how many there is of something, at one time one number."""

SCHEDULING = _words(
    "starts start begins begin ends end opens open closes close launches expires leaves arrives due happens "
    "beginnt beginnen endet enden startet öffnet schließt fährt fällig erscheint "
    "empieza empiezan comienza termina terminan abre cierra sale llega vence expira"
)

POSSESSION = _words("has have had hat haben tiene tienen")

PLACES = _words("in at im en")

TOWARDS = _words("for by to from für bei von an para por a")
"""What stands before the one place, or the one other, of a verb that has one."""

EXCLUSIVE = _words(
    "lives located based born died led owned headed managed founded opened established named called works "
    "reports belongs capital "
    "wohnt lebt geboren gestorben geleitet gegründet eröffnet heißt arbeitet berichtet gehört liegt "
    "befindet sitzt "
    "vive nació murió ubicado ubicada dirigido dirigida abrió fundado fundada llama trabaja pertenece reside"
)
"""Verbs and participles that one thing has one of, whether told as past or as present."""

NUMBERS = {
    word: str(value)
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve",
        "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    )
    for value, word in enumerate(words.split())
    if word not in ("null", "once")  # what has no value, and English "once"
}

MONTHS = _words(
    "january february march april may june july august september october november december "
    "januar februar märz mai juni juli oktober dezember "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)

WEEKDAYS = _words(
    "monday tuesday wednesday thursday friday saturday sunday "
    "montag dienstag mittwoch donnerstag freitag samstag sonntag "
    "lunes martes miércoles jueves viernes sábado domingo"
)
