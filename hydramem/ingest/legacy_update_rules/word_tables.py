"""Words of English, German and Spanish by which a memory is read: what it speaks of, says,"
" and takes back."""

from collections.abc import Mapping

from hydramem.ingest.legacy_update_rules.contrast_frames import ARTICLES


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _table(text: str) -> dict[str, str]:
    """Return a table whose lines are a value, a colon and the words that mean it."""
    lines = (line.partition(":") for line in text.strip().splitlines())
    return {word: value.strip() for value, _, words in lines for word in words.split()}


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    """Return phrases separated by commas, longest first: words in one spelling, and no articles."""
    split = ([word for word in phrase.split() if word not in ARTICLES] for phrase in text.split(","))
    found = (tuple(SAME_WORDS.get(word, word) for word in phrase) for phrase in split)
    return tuple(sorted(filter(None, found), key=len, reverse=True))


CONTRACTIONS: Mapping[str, str] = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "dont": "do not",
    "doesnt": "do not",
    "didnt": "did not",
    "isnt": "is not",
    "arent": "are not",
    "wasnt": "was not",
    "cant": "can not",
    "wont": "will not",
    "i'm": "i am",
    "it's": "it is",
    "he's": "he is",
    "she's": "she is",
    "that's": "that is",
    "there's": "there is",
    "what's": "what is",
    "let's": "let us",
    "zum": "zu dem",
    "zur": "zu der",
    "beim": "bei dem",
    "vom": "von dem",
    "im": "in dem",
    "ins": "in das",
    "ans": "an das",
    "del": "de el",
    "al": "a el",
}

ENDINGS: Mapping[str, str] = {"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would"}
"""What may hang on a word by an apostrophe."""

MONTH_NUMBERS: Mapping[str, int] = {
    word: place + 1
    for words in (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    )
    for place, word in enumerate(words.split())
}

WEEKDAY_NUMBERS: Mapping[str, str] = {
    word + ending: f"w{place}{mark}"
    for words, plural in (
        ("monday tuesday wednesday thursday friday saturday sunday", "s"),
        ("montag dienstag mittwoch donnerstag freitag samstag sonntag", "s"),
        ("lunes martes miércoles jueves viernes sábado domingo", ""),
    )
    for place, word in enumerate(words.split())
    for ending, mark in (("", ""), (plural, "*" if plural else ""))
} | {"sábados": "w5*", "domingos": "w6*", "sonnabend": "w5"}

RECURRING = _words("every each jeden jede jedes cada los")
"""Before a day of the week: each of them."""

CURRENCIES: Mapping[str, str] = {"€": "euro", "$": "dollar", "£": "pound", "%": "percent", "&": "and"}

TITLES = _words("mr mrs ms dr st prof sr sra hr fr dra")

SAME_WORDS = _table(
    """
    euro: euros eur
    dollar: dollars usd dólares dólar
    pound: pounds gbp pfund
    percent: prozent
    minute: minutes mins min minuten minutos minuto
    second: seconds secs sec sekunden segundos
    hour: hours hrs stunden stunde horas hora
    day: days tage día días tag
    week: weeks wochen woche semanas semana
    month: months monate monat meses mes
    year: years jahre jahr años año
    kg: kilo kilos kilogram kilograms kilogramm
    tonne: tonnes tons tonnen toneladas
    km: kilometers kilometres kilometer kilometre kilómetros
    m: metres meters metre meter metros
    color: colour
    favorite: favourite
    center: centre
    gray: grey
    math: maths mathematics
    program: programme
    behavior: behaviour
    neighbor: neighbour
    phone: telephone
    photo: photograph
    wifi: wlan
    do: does
    time: times mal veces
    night: nights nacht nächte noche noches
    """
)

# -- how often, and which in a row ------------------------------------------------------------------------
UNITS = _table(
    """
    hour: hour
    day: day
    night: night
    week: week
    month: month
    quarter: quarter quarters quartal trimestre trimestres
    year: year
    morning: morning morgen mañana mañanas
    evening: evening abend
    afternoon: afternoon nachmittag tarde tardes
    """
)

OFTEN: Mapping[str, str] = {
    "hour": "hourly",
    "day": "daily",
    "night": "nightly",
    "week": "weekly",
    "month": "monthly",
    "quarter": "quarterly",
    "year": "yearly",
    "morning": "mornings",
    "evening": "evenings",
    "afternoon": "afternoons",
}
"""One word for every hour, day and so on."""

FREQUENCIES = _table(
    """
    hourly: hourly stündlich
    daily: daily täglich diariamente everyday diario diaria
    nightly: nightly nachts nächtlich
    weekly: weekly wöchentlich semanalmente semanal
    monthly: monthly monatlich mensualmente mensual
    quarterly: quarterly vierteljährlich trimestralmente
    yearly: yearly annually jährlich anualmente anual
    mornings: mornings morgens
    evenings: evenings abends
    afternoons: afternoons nachmittags
    """
)

FORTNIGHTLY = _words("fortnightly biweekly vierzehntägig")

EACH = _words("every each jeden jede jedes jeder cada alle")

MOVABLE = _words("every each cada todos todas once")
"""What begins a phrase that may stand before its sentence and leaves the rest as it is; not in German."""

HIGHER_NUMBERS: Mapping[str, int] = {
    word: value
    for words in (
        "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty "
        "seventy eighty ninety hundred",
        "dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig dreissig vierzig fünfzig "
        "sechzig siebzig achtzig neunzig hundert",
        "trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte treinta cuarenta cincuenta "
        "sesenta setenta ochenta noventa cien",
    )
    for word, value in zip(words.split(), (*range(13, 20), *range(20, 101, 10)), strict=True)
}

ON_DAYS = _words("on am an el en in")

ENGLISH_WHEN = _words("on at in since until from by")
"""Before a day or time that begins a sentence; in German the verb would follow."""

TIMES = _words("twice zweimal")

ORDINALS = _table(
    """
    1: first erste ersten erster erstes erstem primer primero primera
    2: second zweite zweiten zweiter zweites zweitem segundo segunda
    3: third dritte dritten dritter drittes drittem tercer tercero tercera
    4: fourth vierte vierten vierter viertes viertem cuarto cuarta
    5: fifth fünfte fünften fünfter fünftes fünftem quinto quinta
    6: sixth sechste sechsten sechster sechstes sechstem sexto sexta
    7: seventh siebte siebten siebter siebtes siebtem séptimo séptima
    8: eighth achte achten achter achtes achtem octavo octava
    9: ninth neunte neunten neunter neuntes neuntem noveno novena
    10: tenth zehnte zehnten zehnter zehntes zehntem décimo décima
    11: eleventh elfte elften elfter
    12: twelfth zwölfte zwölften zwölfter
    """
)

RATES = _words("per pro por every each cada a")
"""Before a unit of time: "per second" is no rank."""

GERMAN_ARTICLES = _words("der die das den dem des")

SPANISH_ARTICLES = _words("el la los las lo")

SAID_TWICE: Mapping[str, str] = {
    "mí": "me",
    "mi": "me",
    "nosotros": "nos",
    "nosotras": "nos",
    "ti": "te",
}
"""Who is named before the pronoun that stands for him: "a mí me gusta"."""

PARTICIPLES = _words(
    "fed paid kept held sent done built cut made shown taken given sold told taught read brought caught "
    "shut hung swept bred grown drawn thrown worn broken chosen driven written stolen lit"
)

GETS: Mapping[str, str] = {"gets": "is", "get": "are"}

SPEAKER = _table(
    """
    i: i my mine me myself ich mein meine meinen meinem meiner meines mir mich yo mi mis me mío
    we: we our ours us wir unser unsere unseren unserem unserer uns nosotros nuestro nuestra nuestros
    we: nuestras nos
    """
)

OWNERS = _words(
    "my our his her their its your mein meine meinen meinem meiner meines unser unsere unseren unserem "
    "unserer sein seine ihr ihre mi mis nuestro nuestra nuestros nuestras su sus tu"
)

PRONOUNS = _words("it he she they this that er sie es dieser diese dieses él ella ellos ellas esto eso")

# -- verbs ------------------------------------------------------------------------------------------------
VERBS = _table(
    """
    is: is are am be been being 's ist sind bin es son soy está están estoy estamos somos remains
    is: stays bleibt
    is: lautet lauten beträgt betragen equals amounts happens happen occurs
    is: sit sitting sitze findet finden encuentra encuentran
    is: stored located kept placed parked situated held sits lies stands stays liegt steht stehen
    is: hängt
    is: befindet sitzt lagert
    name: called named heisst heisse heissen llama llamo llaman
    live: lives live living resides reside residing wohnt wohne wohnen lebt lebe leben vive vivo
    live: vivimos viven
    work: works work working employed arbeitet arbeite arbeiten trabaja trabajo trabajamos trabajan
    use: uses use using utilizes nutzt nutze nutzen benutzt benutze benutzen verwendet verwende
    use: verwenden
    use: usa uso usamos usan utiliza utilizo utilizamos utilizan
    run: runs run running läuft laufen corre corro corremos funciona funktioniert
    write: write writes written schreiben schreibt escribimos
    cost: costs cost costing kostet kosten cuesta cuestan
    weigh: weighs weigh wiegt wiegen pesa pesan
    leave: leaves depart departs fährt abfährt sale salen departing
    arrive: arrives arrive comes come kommt kommen llega llegan viene
    open: opens öffnet abre abren
    close: closes schliesst cierra cierran
    start: starts begins begin beginnt beginnen startet empieza comienza
    end: ends endet enden termina terminan
    expire: expires expire expira vence
    have: has have had hat haben habe hast tiene tengo tienen tenemos
    prefer: prefers prefer preferred bevorzugt bevorzuge prefiere prefiero preferimos
    like: likes like loves love enjoys enjoy hates hate mag mögen liebt gusta gustan encanta
    play: plays play playing spielt spiele spielen juega juego toca toco
    take: takes take taking nimmt nehme nehmen toma tomo tomamos
    eat: eats eat isst esse essen come como comemos
    drink: drinks drink trinkt trinke trinken bebe bebo
    drive: drives drive
    go: goes go going geht gehe gehen va voy vamos van fahren fahre
    speak: speaks speak spricht spreche habla hablo
    know: knows know kennt weiss conoce
    report: reports berichtet
    belong: belongs belong gehört gehören pertenece
    own: owns own besitzt
    study: studies study studiert studiere studieren estudia estudio
    support: supports unterstützt soporta admite
    need: needs need requires require braucht benötigt necesita requiere
    call: calls ruft
    send: sends schickt sendet envía
    get: gets get receives bekommt recibe
    learn: learns learn learning lernt lerne lernen aprende aprendo
    train: trains train trainiere trainiert entreno entrena entrenamos
    smoke: smokes smoke smoking rauche raucht rauchen fumo fuma fumar
    stay: staying staying alojamos alojo übernachten
    swim: swims swim
    fly: flies fly flying fliegt fliege fliegen vuela volamos
    bank: bank banks
    travel: travels travel reist reise viaja viajo
    teach: teaches teach
    maintain: maintains maintain betreut pflegt mantiene
    lead: leads lead leitet führt dirige lidera
    organize: organizes organizes organises organisiert organiza
    coordinate: coordinates koordiniert coordina
    handle: handles handle
    coach: coaches coach trainiert
    last: lasts last dauert dauern dura duran
    spend: spends spend
    ship: ships ship
    store: stores store
    measure: measures measure misst mide
    allow: allows allow erlaubt permite
    contain: contains contain enthält contiene
    manage: manages manage
    visit: visits
    pay: pays zahlt zahle paga pago
    cook: cooks
    sleep: sleeps
    ride: rides
    read: reads liest
    listen: listens
    host: hosts
    seat: seats
    hold: holds holding
    serve: serves
    want: wants want möchte quiere quiero queremos
    plan: plans plant
    think: thinks think glaube cree creo
    """
)
"""Each form of a verb and the one name for all; what places a thing is `is`."""

PAST_VERBS = _table(
    """
    is: was were war waren wurde wurden era eran estaba estaban fue fueron
    have: got hatte tenía
    born: born geboren nació nacieron
    found: founded gegründet fundó
    build: built gebaut construyó
    die: died starb gestorben murió
    invent: invented erfunden inventó
    write: wrote schrieb escribió
    pay: paid bezahlt pagué pagó
    buy: bought gekauft compré compró
    sell: sold verkauft vendí
    run: ran lief corrí
    go: went ging fui
    see: saw vi
    meet: met traf
    visit: visited besucht visité visitó
    give: gave gab dio
    take: took nahm tomó
    win: won gewonnen ganó
    beat: beat schlug
    lose: lost verloren perdió
    make: made machte hizo
    say: said told sagte dijo
    eat: ate ass comió
    send: sent geschickt envié
    fix: fixed
    review: reviewed
    ship: shipped
    fail: failed
    have: had
    spend: spent ausgegeben gastamos gastó
    fly: flew flog voló
    drink: drank trank bebió
    speak: spoke sprach habló
    become: became
    begin: began begann empezó
    join: joined unió incorporó
    start: started
    break: broke
    find: gefunden encontró
    keep: hielt
    bring: brought brachte trajo
    call: angerufen llamó
    invite: invited eingeladen invitó
    come: came kam vino
    drive: drove fuhr
    sleep: slept schlief durmió
    swim: swam
    teach: taught
    read: las leyó
    study: studied studierte estudió
    attend: attended
    learn: learned learnt gelernt aprendí
    cost: costed kostete costó
    work: worked arbeitete trabajó
    live: lived wohnte vivió
    """
)

PAST_COPULAS = _words("was were war waren wurde wurden era eran estaba estaban fue fueron")

ROLES = _words(
    "maintain manage lead own organize coordinate supervise handle run chair coach teach head host"
)
"""Verbs of what somebody does for a time, and somebody else after."""

LASTING = _words("born found build die invent study write")
"""What happened once and cannot come to be otherwise: another value is a contradiction, never an update."""

FIRST_PERSON = _table(
    """
    i: soy estoy llamo vivo trabajo uso utilizo corro tengo prefiero juego toco tomo como bebo voy
    i: hablo estudio
    i: entreno fumo pago quiero creo me cambié abandoné dejé compré pagué visité fui
    we: estamos somos vivimos trabajamos usamos utilizamos tenemos preferimos tomamos comemos vamos
    we: entrenamos
    we: queremos escribimos alojamos cambiamos migramos pasamos actualizamos mudamos trasladamos
    we: reemplazamos
    we: sustituimos renombramos dejamos
    """
)
"""Verbs that tell by themselves who speaks."""

NOUNS_TOO = _words(
    "bank travel last lead coach handle learn maintain organize spend know send get drink hold contain "
    "weigh "
    "leaves reads son set cut changes moves stays weiss mag vino will "
    "use work cost run play report open close start end plan store train measure host seat drive cook read "
    "ride ship call study serve like need live love drink own uso trabajo como juego toca fuma sale toma "
    "pago estudio plant kosten leben essen written fly come name called book stand"
)
"""Verbs that are as often something else: where another verb stands in the clause, that one is it."""

AUXILIARIES = _words(
    "have has had hat haben habe ha han he hemos been be is are am was were ist sind bin wurde wurden wird"
)

PLACING = _words("stored located kept placed parked situated held")

KEEPING = _words("store keep park")
"""Verbs of who places a thing; that it is placed is `is`."""

CHANGES = _table(
    """
    move: moved moves moving relocated relocates gone went set reassigned assigned promoted
    move: umgezogen gezogen zieht verlegt pasamos pasó pasado
    move: mudó mudamos mudé mudado trasladó trasladamos
    switch: bumped migrated migrates switched switches changed changes converted transitioned upgraded
    switch: downgraded
    switch: updated renamed
    switch: umgestellt umgestiegen gewechselt wechselt wechselte migriert aktualisiert geändert
    switch: umbenannt
    switch: cambió cambiamos cambié cambiado migramos migró actualizamos actualizó renombró
    switch: renombramos
    date: postponed rescheduled delayed extended pushed shifted brought verschoben verlängert
    date: vorverlegt
    date: vertagt aplazó pospuso adelantó retrasó extendió aplazado retrasado amplió prorrogó
    number: raised raises increased lowered reduced cut dropped rose fell grew grown adjusted
    number: decreased
    number: climbed erhöht gesenkt gestiegen angehoben reduziert gesunken sank gefallen angepasst
    number: subió bajó aumentó redujo subido bajado
    """
)

REPLACING = _words(
    "replaced replaces ersetzt reemplazó reemplazamos sustituyó sustituimos supersedes swapped"
)

DROPPING = _words(
    "dropped left quit quitted abandoned removed retired ditched resigned abandoné dejó dejé "
    "dejamos verlassen "
    "abgeschafft stopped gekündigt cancelled canceled sold"
)

TAKING_OVER = _phrases("took over,take over,taken over,takes over,succeeded,succeeds,übernimmt,übernommen")

# -- what takes back, or says that something is new --------------------------------------------------------
ENDED = _phrases(
    "no longer,nicht mehr,nicht länger,ya no,no more,"
    "not longer,stopped,quit,gave up,given up,dejé de,dejó de,dejamos de,aufgehört,"
    "former,formerly,used to,solía"
)

NEGATIONS = _words(
    "not no never neither nor without nicht kein keine keinen keinem keiner nie niemals ohne nunca "
    "jamás tampoco sin "
    "ningún ninguna"
)

NOW = _phrases(
    "down to,from now on,as of now,as of today,these days,right now,by now,for now,now,nowadays,"
    "currently,"
    "meanwhile,ab jetzt,ab sofort,von nun an,jetzt,inzwischen,mittlerweile,nun,neuerdings,seit neuestem,"
    "heutzutage,as of,going forward,henceforth,lately,seit kurzem,últimamente,desde hoy,"
    "a partir de ahora,de ahora en adelante,ahora,actualmente,desde ahora,erst,sondern,hoy en día"
)

INSTEAD = _phrases("instead,stattdessen,en su lugar")

REWORDED = tuple(
    (phrase, form)
    for form, phrases in (
        ("near", "next to,close to"),
        ("rings", "goes off,go off"),
        ("reduced", "turned down,brought down,scaled back,cut back"),
        ("raised", "turned up,brought up,put up"),
        ("happens", "takes place,take place,taking place,tiene lugar,se celebra"),
        ("dropped", "got rid of,gotten rid of,get rid of,gave away,threw away,threw out,stepped down as"),
    )
    for phrase in _phrases(phrases)
)
"""Phrases that are one verb, and that verb."""

ARRIVED = _phrases("has arrived,have arrived,just arrived,ha llegado,han llegado")

DOSES = _words("dose dosage amount intake share quantity dosis menge cantidad")

PRICES = _words("price cost fee rate charge preis gebühr tarifa precio cuota")
"""How much of something there is: "his ibuprofen dose" is a number of his ibuprofen; and what it costs."""

AGAIN = _phrases("again,wieder,back,otra vez,de nuevo")

PRESENT = _words("current aktuelle aktueller aktuelles aktuellen actual actuales present se sich")

NEW = _words("new neue neuer neuen neues neuem nuevo nueva nuevos nuevas updated")

HEADINGS = _words(
    "update news info note status reminder todo correction decision fact hinweis neu neues erinnerung nota "
    "actualización aviso important wichtig importante ps nb edit"
)
"""What stands before a colon and is nobody's name."""

REPLACED_AFTER = _phrases(
    "instead of,rather than,in place of,as opposed to,statt,anstatt,anstelle von,an stelle von,"
    "en lugar de,en vez de"
)

LATER = _phrases("anymore,mehr,longer,más")
"""With a negation: that it held before."""

OPENING = _phrases(
    "remember that,please remember that,note that,please note that,note,fyi,for info,just so you know,"
    "keep in mind that,don't forget that,do not forget that,heads up,merke dir dass,merk dir dass,"
    "denk daran dass,"
    "bitte merken,zur info,übrigens,by the way,btw,recuerda que,ten en cuenta que,que sepas que,por cierto"
)
"""What only tells to listen."""

CORRECTING = _phrases("actually,correction,eigentlich,korrektur,corrección,en realidad,in fact,sorry")

FILLERS = _phrases(
    "last week,last month,last year,this week,this month,this morning,yesterday,today,recently,just,"
    "already,"
    "finally,also,really,very,please,too,so,well,then,letzte woche,letzten monat,gestern,heute,kürzlich,"
    "schon,by the way,btw,übrigens,por cierto,fyi,this season,this term,this semester,this time,there,"
    "dort,auch,sehr,bitte,noch,endlich,la semana pasada,ayer,hoy,también,ya,muy,finalmente,always,"
    "immer,"
    "siempre,usually,normalerweise,actually,as well"
)

UNSURE = _words(
    "might may could would should maybe perhaps probably considering thinking planning hope hopes if "
    "unless whether when evaluating suppose vielleicht könnte könnten würde würden möchte möchten "
    "sollte sollten überlegen überlegt falls wenn ob quizás quizá podría podríamos quiere quiero queremos "
    "piensa pensamos si cuando wish try trying tries consider discuss discussed proposed"
)

INTENDING = _phrases(
    "want to,wants to,would like,plan to,plans to,intend to,intends to,about to,going to move,"
    "going to switch,"
    "going to change,habe vor,haben vor,hat vor,planen zu,plant zu,vamos a cambiar,va a cambiar,"
    "voy a cambiar"
)

# -- words that join --------------------------------------------------------------------------------------
PREPOSITIONS = _table(
    """
    in: in inside en within
    at: at on an auf bei am
    for: for für para
    from: from von aus
    since: since seit ab desde starting effective
    until: until til till bis hasta
    to: to into nach zu hacia onto towards
    of: of
    with: with mit con via using
    as: as als como
    by: by per durch
    under: under unter bajo below
    over: over über sobre
    near: near neben cerca beside
    before: before vor antes
    after: after nach después
    against: against gegen contra
    than: than
    about: about around um gegen
    without: without
    between: between zwischen entre
    including: including inklusive incluido
    ~: de a por
    """
)
"""Each preposition by what it does; `~` may do several things."""

JOINING = _words("and but und aber sondern y e pero sino while")

# -- what has one value at a time --------------------------------------------------------------------------
SCHEDULED = _words("is leave arrive open close start end expire plan")

VEHICLES = _words(
    "bus train tram ferry shuttle metro subway boat lift film movie show tour zug bahn straßenbahn fähre "
    "strassenbahn autobús tren tranvía barco"
)
"""What runs several times a day."""

PLACED = _words("is live work stay play report belong run write name study")

ONE_OTHER = frozenset(
    {("play", "for"), ("work", "for"), ("report", "to"), ("belong", "to"), ("is", "to")}
    | {("fly", "with"), ("ship", "with"), ("bank", "with"), ("travel", "with")}
)
"""Verbs and prepositions behind which there is one at a time."""

DEFINITES = _words("the der die das den dem el la los las")

INDEFINITES = _words("a an some another any ein eine einen einem einer un una unos unas otro otra")

HAS_MANY = _words(
    "have like love speak know own want think visit see meet buy call send get go eat support need plan"
)

SEVERAL = _words(
    "friend friends colleague colleagues brother brothers sister sisters cousin cousins uncle aunt "
    "child children "
    "son daughter client customer student hobby hobbies contact freund freundin kollege kollegin bruder "
    "schwester cousine onkel tante kind sohn tochter kunde kundin hobby amigo amiga colega hermano "
    "hermana primo "
    "prima tío tía hijo hija cliente pet"
)
"""Nouns of which one thing has several: two values are two, not one after another."""

MEETING = _words("meet train eat swim sleep park gather practice")
"""Verbs of what is done at one place or time, where something says that it is new."""

ACQUIRED = _words("have buy rented hired chose adopted installed booked ordered leased picked selected")
"""Verbs in the past of what is there since, until it is given up."""

CHOSEN = _words("drive study attend rent")
"""Verbs of what is one after another, where something says that it is new."""

PERMANENT = _words("birthday birthplace birth geburtstag geburtsort cumpleaños")
"""What cannot come to be otherwise: another value is a contradiction."""

FREE = _words(
    "default standard color favorite hint password passcode pin code status state priority price rent "
    "fee rate "
    "budget salary cost "
    "limit timeout theme font language diet size weight height age goal target name address title role "
    "position "
    "deadline version release email mail number phone quota interval threshold dose dosage currency "
    "timezone "
    "frist abgabefrist preis miete gebühr gehalt passwort farbe lieblingsfarbe lieblingsessen adresse "
    "grösse "
    "gewicht sprache titel contraseña precio alquiler color favorito favorita dirección teléfono "
    "correo fecha "
    "límite presupuesto sueldo estado tamaño idioma plazo"
)
"""Attributes whose values may be any words; of others, only names and numbers exclude each other."""

ATTRIBUTES = _words(
    "deadline manager boss lead leader head chief cto ceo cfo coo director owner captain coach "
    "teacher doctor "
    "gp dentist therapist trainer goalkeeper striker mentor supervisor assistant landlord landlady "
    "president "
    "chair chairman secretary treasurer name address email mail number phone password passcode pin "
    "code hint "
    "price rent fee rate budget salary cost limit timeout quota interval threshold target goal size "
    "weight height "
    "age version release color status state priority capital currency language timezone plan provider bank "
    "insurer database cache editor framework stack host port branch gate seat room grade class "
    "route supplier "
    "carrier vendor genome dose dosage schedule time date birthday favorite diet team school "
    "employer job title "
    "role position theme font domain url endpoint region server model engine "
    "frist abgabefrist chef chefin leiter leiterin trainerin arzt hausarzt hausärztin zahnarzt "
    "lehrer lehrerin "
    "name adresse nummer telefonnummer passwort preis miete gebühr budget gehalt limit grösse "
    "gewicht version "
    "farbe lieblingsfarbe status ticketsystem datenbank sprache bank zimmer raum klasse abteilung "
    "jefe jefa director directora médico médica profesor profesora entrenador dirección teléfono correo "
    "contraseña precio alquiler presupuesto sueldo límite versión color favorito favorita estado base "
    "puerto "
    "fecha plazo sala aula clase equipo"
)

STATES = _table(
    """
    open: open opened geöffnet offen abierto abierta closed geschlossen cerrado cerrada
    enabled: enabled disabled aktiviert deaktiviert activado desactivado activada desactivada
    works: broken kaputt roto rota repaired repariert fixed reparado defekt working works funciona
    works: funktioniert failing
    works: green red passing averiado
    married: single engaged married divorced widowed verlobt verheiratet geschieden ledig casado
    married: casada soltero soltera
    reviewed: review submitted accepted rejected published eingereicht angenommen abgelehnt
    reviewed: veröffentlicht aceptado rechazado
    done: pending blocked done finished completed cancelled canceled fertig offen abgeschlossen
    done: terminado pendiente progress
    diet: vegetarian vegan pescatarian vegetarier veganer vegetarierin veganerin vegetariano
    diet: vegetariana vegano vegana
    on: on off an aus encendido apagado
    available: available unavailable busy verfügbar
    active: active inactive archived deprecated aktiv inaktiv activo inactivo
    full: full empty voll leer lleno vacío
    approved: approved denied genehmigt aprobado
    needed: optional mandatory required obligatorisch freiwillig pflicht obligatorio opcional
    online: online offline
    sick: sick healthy ill krank gesund enfermo sano
    public: public private öffentlich privat público privado
    """
)

CLASSES = _table(
    """
    database: postgresql postgres mysql mariadb sqlite mongodb oracle cockroachdb dynamodb cassandra
    database: db2 duckdb mssql firebird
    cache: redis memcached valkey varnish
    search: elasticsearch opensearch solr meilisearch typesense
    queue: kafka rabbitmq nats pulsar sqs activemq
    language: python java go golang rust typescript javascript kotlin swift ruby php scala elixir c++
    language: c# perl haskell
    frontend: react vue angular svelte ember solidjs
    backend: django flask fastapi rails spring express laravel nestjs
    ci: jenkins github-actions gitlab-ci circleci travis buildkite teamcity drone
    cloud: aws azure gcp hetzner digitalocean heroku ovh linode
    editor: vim neovim emacs vscode sublime intellij pycharm zed nano atom
    system: linux windows macos ubuntu debian fedora arch centos rhel alpine android ios
    chat: slack mattermost teams discord zulip rocketchat telegram whatsapp signal threema
    tracker: jira redmine linear trello asana youtrack bugzilla
    forge: github gitlab bitbucket gitea forgejo codeberg
    packages: npm yarn pnpm bun pip poetry uv conda
    orchestration: kubernetes nomad swarm openshift
    infrastructure: terraform pulumi ansible puppet chef
    monitoring: prometheus datadog grafana zabbix nagios newrelic
    browser: firefox chrome safari edge brave opera
    carrier: dhl ups fedex dpd hermes gls usps correos seur
    drink: tea coffee water beer wine juice tee kaffee wasser bier wein té café agua cerveza vino
    drink: espresso matcha cocoa
    color: red blue green yellow black white orange purple pink brown gray rot blau grün gelb schwarz
    color: weiss lila rosa braun
    color: rojo azul verde amarillo negro blanco naranja morado marrón
    theme: dark light dunkel hell oscuro claro
    indent: tabs spaces
    seat: aisle window fensterplatz gangplatz ventana pasillo
    daytime: morning mornings afternoon afternoons evening evenings vormittag nachmittag abend mañana
    daytime: tarde noche
    meat: vegetarian vegan pescatarian
    frequency: daily weekly monthly quarterly hourly annually yearly nightly fortnightly biweekly
    frequency: täglich wöchentlich monatlich jährlich stündlich diariamente semanalmente mensualmente
    frequency: anualmente
    bank: ing triodos dkb sparkasse n26 revolut monzo barclays santander bbva commerzbank
    """
)
"""Things of which one is used in the place of another, by what they are."""
