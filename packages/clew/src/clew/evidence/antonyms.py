"""Words that turn a sentence round, in the languages read most, folded (`words.key`)."""

from typing import Final

from clew.evidence.words import key


def _keys(text: str) -> frozenset[str]:
    return frozenset(map(key, text.split()))


FUNCTION: Final = _keys("""
a an the this that these those it its he she they we you i in on at of to for from by with as into
onto than then is are was were be been being am and or but nor so if has have had having do does did
will would can could may might must shall should there here who whom whose which what when where why
how his her their our your my him them us me also just even still not no never none neither nor only
all any some most every each both s t ve re d ll don didn doesn isn wasn weren aren won wouldn couldn
shouldn hasn haven hadn can very too such own same other another about
der das und ist wurde wurden dem den des ein eine einer einem einen im am zum zur vom mit nach
auf fur von nicht sich auch als bei aus wird hat sind er sie es kein keine keinen keiner
el la los las un una unos unas de del en y e o que se es fue era su sus al por con para lo como
mas no ha han hay ser le les sin
le la les un une des du de et est sont a au aux en dans par pour que qui ne pas il elle ils sa son
ses ce cette
il lo gli i un uno una di del della dei delle e che è ha in da per non si con al alla nel nella
""")
"""Words that bind others; they say nothing of their own."""

NEGATIVE: Final = _keys("""
not no never nobody none neither nor without cannot nothing nowhere
nicht kein keine keinen keiner keinem keines nie niemals niemand ohne nichts weder
no nunca jamas ningun ninguna ninguno nadie nada tampoco sin
pas jamais aucun aucune sans ni rien
niet geen nooit zonder niemand
nao nunca nenhum nenhuma sem
nie bez
non nessuno nessuna nessun senza
""")
"""Words that deny what follows them."""

DENYING: Final = _keys("""
fail failed fails failing refuse refused refuses refusing deny denied denies denying lack lacks lacked
lacking unable incapable impossible avoid avoided decline declined declines cease ceased
prevent prevented stopped unwilling instead unlikely false falsely exclude excludes excluded excluding
""")
"""Verbs and the like that deny what follows them."""

BREAKS: Final = _keys(
    "but although though while whereas however aber sondern pero sino mais ma because and"
)
"""Behind them a negation reaches nothing."""

BOUNDED: Final = _keys(
    "more less fewer later earlier longer only just merely solo nur seulement mas menos plus moins mehr weniger doubt matter appena"
)
"""Behind a not they make a bound or a beginning, and deny nothing: no more than, not only."""

UNTIL: Final = _keys("""
until till unless before bis vor bevor jusqu avant hasta antes fino finche prima tot tenzij voor ate
""")
"""Behind a negation they say when or where it ends."""

ALLOWING: Final = _keys("""
may can permitted allowed requires required require must open needed need valid
erlaubt darf durfen erforderlich muss geoffnet permis autorise ouvert obligatoire faut doit
permitido permite puede debe abierto obligatorio consentita consentito permesso aperto deve richiede
mag toegestaan verplicht nodig permitido aberta aberto exige
""")
"""Words of rules: what they allow on a condition is allowed on no other."""

CONDITIONS: Final = _keys("""
if when once for from with between during after where in on up
wenn falls fur von mit zwischen nach ab si quand pour de du avec entre pendant apres
cuando para desde con durante tras da dal se quando per dopo in indien als met van bij
""")
"""Words that begin a condition."""

EXCLUSIVE: Final = _keys(
    "only solely exclusively merely sole alone lone nur allein ausschliesslich solamente unicamente seulement uniquement soltanto"
)
"""Words that say that nothing else does."""

UNIVERSAL: Final = _keys("""
all every always everyone everybody everything entire entirely completely fully wholly each any never
none nobody alle jeder jede immer todos todas siempre tous toutes toujours tutti tutte sempre
""")
"""Words that allow no exception."""

IDIOMS: Final = _keys("in at after above first")
"""Before an `all` they make an idiom."""

EXCEPT: Final = _keys(
    "except excluding unless apart barring ausser ausgenommen salvo excepto menos sauf hormis tranne eccetto"
)
"""Words that make one."""

PARTIAL: Final = _keys("""
some most many several few often sometimes usually mostly partly partially half majority minority
rarely seldom occasionally einige manche meist oft teilweise algunos algunas muchos varios
""")
"""Words that say of less than all."""

_OPPOSED: Final = """
begin begins began begun beginning start starts started starting | end ends ended ending finish finished
increase increases increased increasing rise rises rose risen rising grow grew grown growing | decrease
 decreases decreased decreasing fall falls fell fallen falling decline declined declining drop dropped shrank shrinking
expansion growth | decline shrinkage loss reduction
before | after
above | below
more | less fewer
north northern | south southern
east eastern | west western
first | last
won win wins winning winner | lost lose loses losing loser
open opens opened opening | close closes closed closing
alive | dead
lived living | died
male man men boy boys father son brother husband king | female woman women girl girls mother daughter sister wife queen
inside indoors | outside outdoors
near close | far
accept accepts accepted approved approve approves allow allowed allows | reject rejects rejected refused forbade forbid forbidden banned prohibited
include includes included including | exclude excludes excluded excluding
success successful succeeded | failure unsuccessful failed
support supported supports supporter | oppose opposed opposes opponent
connected | disconnected
legal | illegal
fictional fiction | real actual
public | private
buy bought buys purchased | sell sold sells
import imported imports | export exported exports
enter entered enters arrive arrived arrives | leave left leaves departed depart departs
ancient old older oldest | modern new newer newest
large larger largest big bigger biggest great greater greatest | small smaller smallest little
high higher highest tall taller tallest | low lower lowest short shorter shortest
long longer longest | short shorter shortest
early earlier earliest | late later latest
hot hotter hottest warm warmer warmest | cold colder coldest cool cooler coolest
fast faster fastest | slow slower slowest
heavy heavier heaviest | light lighter lightest
rich wealthy | poor
happy | sad
strong stronger strongest | weak weaker weakest
best better | worst worse
good positive | bad negative
hired employed recruited | fired dismissed sacked
married | divorced unmarried single
innocent acquitted | guilty convicted
domestic | foreign
rural | urban
upper | lower
left | right
maximum | minimum
major majority | minor minority
multiple several many | single
natural | artificial
permanent | temporary
visible | invisible
possible capable able | impossible incapable unable
likely | unlikely
true correct correctly | false incorrect incorrectly falsely
full filled | empty
wet | dry
asleep sleeping | awake
standing | sitting
day daytime | night
black | white
front | back rear
top | bottom
guilty | innocent
victory | defeat
gain gained gains | loss lost
same identical | different
constant unchanged stable | changed increased decreased expansion growth
voluntary | compulsory mandatory
deny denied denies | confirm confirmed confirms admitted admit
destroyed demolished | built rebuilt constructed
sank sunk | floated
single | married
native | foreign immigrant
"""


def _opposites() -> dict[str, frozenset[str]]:
    antonyms: dict[str, set[str]] = {}
    for line in _OPPOSED.strip().replace("\n ", " ").splitlines():
        one, _, other = line.partition("|")
        for mine, theirs in ((one, other), (other, one)):
            for word in mine.split():
                antonyms.setdefault(key(word), set()).update(map(key, theirs.split()))
    return {word: frozenset(others) for word, others in antonyms.items()}


OPPOSITES: Final = _opposites()
"""For a word those that say the contrary."""

_OF_ONE_KIND: Final = (
    "red | blue | green | yellow | orange | purple | pink | brown | black | white | grey gray",
    "monday mondays | tuesday tuesdays | wednesday wednesdays | thursday thursdays | friday fridays | saturday saturdays | sunday sundays",
    "spring | summer | autumn | winter",
    "comedy comedies | horror | drama | thriller | western | documentary | musical",
    "pop | rock | country | jazz | classical | rap | reggae",
    "english | spanish | german | french | italian | dutch | swedish | norwegian | danish | finnish | polish | russian | chinese | japanese | korean | hindi | portuguese | greek | turkish | arabic",
    "gold golden | silver | bronze",
    "tea | coffee | beer | wine | tequila vodka whisky whiskey | water | milk | juice | chocolate",
    "brother | sister | father | mother | son | daughter | uncle | aunt | cousin",
    "football soccer | basketball | baseball | tennis | hockey | cricket | rugby | golf",
    "north | south | east | west",
)


def _kinds() -> dict[str, tuple[int, int]]:
    kinds: dict[str, tuple[int, int]] = {}
    for number, line in enumerate(_OF_ONE_KIND):
        for index, group in enumerate(line.split("|")):
            for word in group.split():
                kinds.setdefault(key(word), (number, index))
    return kinds


KINDS: Final = _kinds()
"""Words of one kind of which a thing is usually one: the kind, and which of it."""


CONVERSE: Final = tuple(
    {parent, child} for parent in ("father", "mother") for child in ("son", "daughter")
)
"""Two words of one kind that speak of the same pair of people."""

_DEEDS: Final = """
design designed designs | build built builds constructed erected | sell sold sells | buy bought buys purchased acquired
own owned owns | destroy destroyed demolished | restore restored repaired renovated | paint painted paints
write wrote written writes authored | translate translated | publish published | edit edited | read
direct directed directs | produce produced produces | compose composed | film filmed | sing sang sung
win won wins | lose lost loses | visit visited visits | invent invented | discover discovered | study studied
found founded established | close closed dissolved | lead led leads headed | join joined | leave left quit resigned
marry married | divorce divorced | kill killed murdered | save saved rescued | arrest arrested | free freed released
teach taught | learn learned learnt | eat ate eaten | drink drank drunk | cook cooked
import imported | export exported | steal stole stolen | give gave given donated | receive received
praise praised | criticise criticised criticize criticized | support supported | oppose opposed | ban banned forbade
raise raised raises increased | lower lowered lowers reduced cut | open opened | attack attacked | defend defended
sink sank sunk | swim swam | fly flew flown | walk walked | drive drove driven | sleep slept | sit sat
manufacture manufactured | rent rented leased | burn burned burnt | flood flooded | measure measured
"""
VERBS: Final[dict[str, int]] = {
    key(word): number
    for number, deed in enumerate(_DEEDS.replace("\n", "|").split("|"))
    for word in deed.split()
}
"""Verbs of deeds that are not each other, each with the number of its deed."""
