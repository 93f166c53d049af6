"""Words that tell names from other capitalised words, in the languages read most.

They are kept folded, as `words.key` gives them.
"""

from typing import Final

from clew.evidence.words import key


def _keys(text: str) -> frozenset[str]:
    return frozenset(map(key, text.split()))


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP: Final = _keys("""
a an the this that these those it its he she they we you i his her their our your my him them us
me who whom whose which
what when where why how there here and or but nor so yet for if then than as because while
although though since until
unless whereas both either neither each every all some any no none not only also even just still
already again once now
later soon today yesterday tomorrow after before during between among within without with by from
to in on at of off up
down over under about above below across along around near through against toward towards into
onto upon per via despite
is are was were be been being am do does did done has have had having can could may might must
shall should will would
twice once thrice yes no ok ja jawohl nein nee oui non si sim nao tak nie
however therefore thus hence moreover furthermore meanwhile instead otherwise
nevertheless finally first second
third next last another other others same such more most less least many much few several one two
three four five six
seven eight nine ten eleven twelve today's built born founded named called located according based
note answer source
sources reference references question total so far let see given overall together originally
initially eventually
currently formerly nowadays approximately roughly nearly almost exactly perhaps probably possibly
apparently
der die das den dem des ein eine einer eines einem einen er sie es wir ihr ihre sein seine und
oder aber nicht auch nur
im am zum zur vom beim mit nach bei seit von aus auf für über unter vor durch gegen ohne um bis
als wie wo wer was wann
warum dort hier heute damals dann danach später zuerst ist sind war waren wird wurde wurden hat
hatte haben
le la les l un une des du de d et ou mais il elle ils elles on nous vous je tu ce cet cette ces
son sa ses leur dans sur
sous avec sans pour par entre depuis pendant avant après vers chez est sont était étaient fut a
ont avait où qui que quoi
quand comment aujourd'hui ensuite puis
el los las una unos unas y o pero él ella ellos en con sin por para sobre entre desde hasta según
su sus este esta estos
es son era fue fueron ha han había cuando donde quien como hoy luego después
il lo gli i uno e ed o ma lei loro nel nella nei con senza per tra fra da dal dalla su sul sulla è
sono era fu ha hanno
quando dove chi come oggi poi dopo questo questa
het een en of maar hij zij ze we ik in op van voor met door bij uit naar na sinds tot is zijn was
waren werd heeft had
""")
"""Words that begin no name: articles, pronouns, prepositions, auxiliaries, words of order."""

ARTICLES: Final = _keys(
    "a an the der die das ein eine einen einem einer le la les un une el los las il lo gli"
)

CONNECTING: Final = _keys(
    """of the de la le les du des della di da do dos das van von der den ter ten zu zum y e bin ibn
    al el af av på im am"""
)
"""Words in lower case inside a name: University of Oslo, Ludwig van Beethoven."""

TITLES: Final = _keys("""
mr mrs ms miss dr prof professor sir dame lord lady king queen prince princess duke duchess count
countess baron baroness
emperor empress tsar president chancellor minister senator governor mayor judge captain general
colonel major admiral
lieutenant sergeant commander bishop archbishop cardinal pope father brother sister reverend rev
saint st engineer
architect poet writer author painter composer inspector herr frau doktor könig königin monsieur
madame mme señor señora
don doña signor signora
""")
"""Before a name they are left out: they say what somebody is, not who."""

STATES: Final = _set(
    """
    us uk un eu usa uae dc ussr
    """
)
"""Written with dots they are no initials."""

OPENING: Final = _keys("""
people visitors residents citizens students scientists researchers historians experts critics
workers women men children
construction building work works production service services trains ships boats ferries buses
tickets records documents
evidence data results figures research studies study reports report work water wind snow rain ice
fish birds trees wood
stone iron steel gold silver glass paper books letters music art science history population area
height length width
depth weight price prices cost costs income taxes sales money trade farming tourism industry
education school schools
summer winter spring autumn morning evening night noon monday tuesday wednesday thursday friday
saturday sunday
half most both part parts members guests admission entry membership opening access repairs damage
fire storms floods
its their thanks besides earlier afterwards previously additionally similarly consequently unlike
like including
founded opened built completed designed written published released painted composed discovered
invented established
measured estimated counted weighing measuring lying standing named known born died married elected
appointed awarded
nothing everything something nobody everybody someone anyone everyone today nowadays traditionally
historically
legend tradition locals keepers owners founders volunteers engineers teachers doctors farmers
fishermen sailors soldiers
hunger thirst poverty wealth health sickness disease death life birth marriage love war peace law
order crime police government parliament council court church state city town village country
nature weather climate heat cold light darkness sound noise silence time space speed distance
size fuel traffic transport travel access use growth decline loss profit debt credit interest
rent land soil sand mud grass hay straw corn wheat rice meat fruit bread cake soup dinner lunch
breakfast sleep rest help advice news information research evidence proof doubt hope fear anger
support care damage harm safety risk progress change success failure practice theory style taste
colour color paint cloth clothing silk cotton wool leather brick concrete marble plastic rubber
add mix take bake boil cut pour put stir use turn press click open close see note compare check
visit follow choose select enter write read ask try keep make give get go come look think
demand supply electricity power energy gas coal oil salt sugar coffee tea wine beer bread milk
cheese
""")
"""Ordinary words that often begin a sentence."""

VERBS: Final = _keys("""
is was are were has had did does can could may might will would must and or who whose von van de
kept wrote built won made led found gave took became came died went sang ran said drew held let
sold brought taught fought lost left met set cut put began grew knew spoke rose fell stood lay saw
sat told thought bought caught chose drove flew got heard hid hit hung paid read rode sent shot
shut slept spent swam swore threw wore also then now never first again later only once soon died
a était fut est eut era fue es ha è fu war ist hat hatte wurde in at on
""")
"""What often stands behind the name that begins a sentence."""

GERMAN: Final = _set(
    """
    der die das und ist wurde wurden dem des ein eine einer einem einen im am zum zur vom mit nach
    auf für von nicht sich auch als bei aus wird hat war sind waren
    """
)

DECLINING: Final = (
    "cannot", "can't", "could not", "couldn't", "not find", "no evidence", "not found",
    "found nothing", "nothing about", "do not say", "does not say", "don't say", "doesn't say",
    "do not mention", "does not mention", "no information", "not enough", "unable to", "unknown",
    "not known", "do not know", "don't know", "not stated", "no mention", "no record",
    "kann nicht", "nicht gefunden", "keine angaben", "keine informationen", "nicht bekannt",
    "je ne", "ne trouve", "aucune information", "no se ", "no hay", "no puedo", "non so",
    "non trovo", "nessuna", "não sei", "kan niet",
    "无法", "没有找到", "不知道", "わかりません", "見つかりません",
)  # fmt: skip
"""Words by which an answer says that it has none, in lower case."""

_COUNTRIES: Final = """
america: american | argentina: argentine argentinian | australia: australian | austria: austrian
belgium: belgian | brazil: brazilian | britain: british | bulgaria: bulgarian | canada: canadian
chile: chilean | china: chinese | colombia: colombian | croatia: croatian | cuba: cuban
czechia: czech | denmark: danish | egypt: egyptian | england: english | estonia: estonian
ethiopia: ethiopian | europe: european | finland: finnish | france: french | germany: german
greece: greek | hungary: hungarian | iceland: icelandic | india: indian | indonesia: indonesian
iran: iranian | ireland: irish | israel: israeli | italy: italian | japan: japanese
kenya: kenyan | korea: korean | latvia: latvian | lithuania: lithuanian | mexico: mexican
morocco: moroccan | netherlands: dutch | nigeria: nigerian | norway: norwegian | peru: peruvian
poland: polish | portugal: portuguese | romania: romanian | russia: russian | scotland: scottish
serbia: serbian | slovakia: slovak | slovenia: slovenian | spain: spanish | sweden: swedish
switzerland: swiss | turkey: turkish | ukraine: ukrainian | vietnam: vietnamese | wales: welsh
rome: roman | africa: african | asia: asian
"""
_DEMONYMS: Final = {
    key(demonym): key(country.strip())
    for line in _COUNTRIES.replace("|", "\n").strip().splitlines()
    for country, _, demonyms in [line.partition(":")]
    for demonym in demonyms.split()
}
DEMONYMS: Final = _DEMONYMS | {
    f"{people}{ending}": country
    for people, country in _DEMONYMS.items()
    for ending in ("man", "woman", "men", "women")
}
"""Norwegian is compared as Norway, and so is a Dutchman as the Netherlands."""

COUNTRIES: Final = frozenset(DEMONYMS.values())

_DAYS: Final = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
ALSO: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    **{(day,): (f"{day}s",) for day in _DAYS},
    **{(f"{day}s",): (day,) for day in _DAYS},
    **dict.fromkeys((("united", "states"), ("us",), ("usa",)), ("america", "us", "usa")),
    **dict.fromkeys((("united", "kingdom"), ("uk",)), ("britain", "uk")),
}
"""Names that stand for others."""

PLACED: Final = _keys("""
new north south east west northern southern eastern western upper lower great little old saint
st san santa los las el la le port fort cape lake mount river bay university king
queen grand central
""")
"""First words of names that are not given names: New York is not York."""

BEFORE: Final = STOP | TITLES
"""Words with a capital before a surname that are no part of it."""

RELATIVES: Final = _keys("""
son daughter brother sister child children twin mother father wife husband widow nephew niece
cousin uncle aunt grandson granddaughter siblings parents sohn tochter bruder schwester vater
mutter frau mann witwe neffe nichte enkel enkelin cousin fils fille frere soeur pere mere femme
mari veuve neveu niece cousin hijo hija hermano hermana padre madre esposa marido viuda sobrino
sobrina primo nieto nieta figlio figlia fratello sorella padre madre moglie marito vedova nipote
cugino filho filha irmao irma pai mae esposa marido zoon dochter broer zus vader moeder vrouw man
weduwe syn corka brat siostra ojciec matka zona maz wnuczka wnuk
""")
"""Beside a given name they say that somebody may have the surname that another one has."""
