"""Words of English, German and Spanish by which a memory is classified without a model."""

import re

from hydramem.text.lexicon import STOP_WORDS
from hydramem.text.normalize import folded

_STOP_LIST = """
    also always another any anyone anything because before being between both during each either else even
    ever every everyone everything few first further get gets getting got here how just last later least
    less let like lot made make makes many maybe may might more most much must need needs never new next
    not nothing now often one once only other others over own please put quite really said same say says
    see seen several shall since some someone something sometimes soon still take takes tell thing things
    think those though through today together tomorrow tonight too two under until up upon use used uses
    using very want wants way well went whether while will within without yes yesterday yet

    aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da
    dabei daher damit dann darf das dass dein deine dem den denn der des dessen deshalb die dies diese
    diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas euch euer
    fur gegen gibt hab habe haben hat hatte hatten hier hin ich ihm ihn ihnen ihr ihre ihrem ihren ihrer
    immer im in ins ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinen keiner konnen konnte
    machen macht man mehr mein meine meinem meinen meiner mich mir mit muss mussen nach nachdem nicht
    nichts noch nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit sich sie sind so soll
    sollen sollte sondern uber um und uns unser unsere unserem unseren unter vom von vor wann war waren
    warum was weg weil welche welcher wenn wer werden wie wieder will wir wird wo wollen wurde wurden zu
    zum zur zwei zwischen

    al algo algun alguna algunas algunos alli ante antes aqui asi aun aunque bien cada casi como con
    contra cual cuando cuanto de del desde donde dos durante el ella ellas ellos en entre era eran es esa
    esas ese eso esos esta estaba estado estan estar estas este esto estos estoy fue fueron ha habia han
    hasta hay he hemos la las le les lo los mas me mi mis mucho muchos muy nada ni no nos nosotros nuestra
    nuestro nunca o os otra otras otro otros para pero poco por porque pues que quien se sea ser si sido
    siempre sin sino sobre solo son soy su sus tambien tan tanto te tengo tenia ti tiene tienen toda todas
    todo todos tu tus un una unas uno unos usted va vamos ya yo
"""

STOPS = STOP_WORDS | frozenset(_STOP_LIST.split())
"""Folded words that say nothing of what a text is about."""


def _cue(weight: float, phrases: str) -> tuple[float, re.Pattern[str]]:
    listed = (" ".join(phrase.split()) for phrase in phrases.split("|"))
    ordered = sorted((folded(phrase) for phrase in listed), key=len, reverse=True)
    joined = "|".join(re.escape(phrase) for phrase in ordered)
    return weight, re.compile(rf"(?<!\w)(?:{joined})(?!\w)")


WEIGHTY = (
    _cue(
        0.7,
        "allergic|allergy|allergies|anaphylaxis|epipen|emergency|diabetic|diabetes|medication"
        "|blood type|password|passphrase|api key|recovery code|passport number|allergisch|allergie"
        "|allergien|notfall|diabetiker|diabetikerin|medikament|medikamente|blutgruppe|passwort"
        "|kennwort|zugangsdaten|alérgico|alérgica|alergia|alergias|emergencia|diabético|diabética"
        "|medicamento|medicación|grupo sanguíneo|contraseña",
    ),
    _cue(
        0.5,
        "remember|don't forget|do not forget|important|importantly|critical|crucial|essential"
        "|note well|merke|merk dir|nicht vergessen|vergiss nicht|wichtig|wichtige|wichtiger"
        "|entscheidend|unbedingt|recuerda|recuerde|no olvides|no olvide|importante|crucial|esencial"
        "|imprescindible",
    ),
    _cue(
        0.45,
        "decided|decision|we agreed|agreed to|agreed that|agreed on|from now on|approved|signed off"
        "|resolved to|beschlossen|beschluss|entschieden|entscheidung|vereinbart|ab sofort|von nun an"
        "|genehmigt|decidimos|decidió|decidido|decisión|acordamos|acordado|a partir de ahora|aprobado"
        "|aprobada",
    ),
    _cue(
        0.4,
        "must|must not|never|always|do not|don't ever|required to|forbidden|not allowed"
        "|under no circumstances|muss|müssen|darf nicht|dürfen nicht|niemals|nie|immer|verboten"
        "|auf keinen fall|pflicht|debe|deben|no debe|nunca|jamás|siempre|prohibido|prohibida"
        "|obligatorio|bajo ningún concepto|hay que",
    ),
    _cue(
        0.4,
        "deadline|due|due date|expires|expiry|no later than|by the end of|overdue|frist|fällig"
        "|spätestens|stichtag|läuft ab|abgabetermin|fecha límite|plazo|vence|caduca|a más tardar"
        "|antes del",
    ),
    _cue(
        0.2,
        "prefer|prefers|favourite|favorite|likes|loves|hates|dislikes|birthday|my name is|is called"
        "|vegetarian|vegan|bevorzugt|bevorzuge|am liebsten|mag|hasst|geburtstag|ich heiße|heißt"
        "|vegetarisch|prefiere|prefiero|favorito|favorita|le gusta|me gusta|odia|cumpleaños|me llamo"
        "|se llama|vegetariano|vegetariana",
    ),
)
"""What raises importance: how far it closes the gap to 1, and the phrases, folded."""

_SMALL_TALK_LIST = """
    hi hello hey thanks thank you ok okay lol haha good morning afternoon evening night how are doing bye
    goodbye see later nice day great cool sure welcome cheers yes no yeah nope weather sunny rainy hallo
    servus danke dankeschon guten morgen tag abend gute nacht wie geht tschuss bis bald prima gerne bitte
    ja nein na wetter schon hola gracias buenos dias buenas tardes noches que tal como estas adios hasta
    luego vale bueno si claro genial nada tiempo
"""

SMALL_TALK = frozenset(_SMALL_TALK_LIST.split())
"""Folded words of greetings and thanks; a short text of little else is small talk."""
