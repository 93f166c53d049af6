"""Units, scales and number words: the tables behind `numbers`.

A unit is a dimension and a factor to its base, so that 1.2 km and 1,200 m are the same. Money is
never converted: each currency is a dimension of its own. Temperatures are not converted either.
"""

from fractions import Fraction
from typing import Final, NamedTuple


class Unit(NamedTuple):
    """What is measured, and how many of the base unit one of these is."""

    dimension: str
    factor: Fraction = Fraction(1)


def _table(lines: str) -> dict[str, Unit]:
    """Read lines of `dimension factor: name, name …`."""
    units: dict[str, Unit] = {}
    for line in lines.strip().splitlines():
        head, _, names = line.partition(":")
        dimension, factor = head.split()
        for name in names.split(","):
            units[name.strip()] = Unit(dimension, Fraction(factor))
    return units


WORDS: Final = _table("""
m 1000: kilometre, kilometres, kilometer, kilometers, kilomètre, kilomètres, kilómetro
m 1000: kilómetros, chilometro, chilometri, quilómetro, quilómetros
m 1: metre, metres, meter, meters, mètre, mètres, metro, metros, metri
m 1/100: centimetre, centimetres, centimeter, centimeters, centimètres, centímetros, centimetri
m 1/1000: millimetre, millimetres, millimeter, millimeters
m 1609.344: mile, miles, Meilen
m 1852: nautical mile, nautical miles, sea miles
m 0.9144: yard, yards
m 0.3048: foot, feet, Fuß
m 0.0254: inch, inches
m 9460730472580800: light year, light years
kg 1: kilogram, kilograms, kilogramme, kilogrammes, kilo, kilos, Kilogramm
kg 1/1000: gram, grams, gramme, grammes, Gramm
kg 1/1000000: milligram, milligrams
kg 1000: tonne, tonnes, metric tons, Tonnen, toneladas
kg 907.18474: short tons
kg 0.028349523125: ounce, ounces
s 1: second, seconds, Sekunden, secondes, segundos, secondi, secondo, segundo, seconden, Sekunde
s 60: minute, minutes, Minuten, minutos, minuti, minuto, minuut, minuten, Minute
s 3600: hour, hours, Stunde, Stunden, heure, heures, hora, horas, ore
s 86400: day, days, Tag, Tage, Tagen, jour, jours, día, días, giorni
s 604800: week, weeks, Woche, Wochen, semaine, semaines, semanas
year 1: year, years, Jahr, Jahre, Jahren, an, ans, années, año, años, anni, anos, jaar, jaren
year 1: lat, lata, latach
year 1/12: month, months, Monat, Monate, Monaten, mois, meses, mesi
year 10: decade, decades
m2 1: square metre, square metres, square meter, square meters, Quadratmeter, mètres carrés
m2 1: metros cuadrados
m2 1000000: square kilometre, square kilometres, square kilometer, square kilometers
m2 1000000: Quadratkilometer
m2 2589988.110336: square mile, square miles
m2 0.09290304: square foot, square feet
m2 10000: hectare, hectares, Hektar, hectáreas
m2 4046.8564224: acre, acres
l 1: litre, litres, liter, liters, litros, litri
l 1000: cubic metre, cubic metres, cubic meter, cubic meters, Kubikmeter
l 3.785411784: gallon, gallons
km/h 1: kilometres per hour, kilometers per hour
km/h 1.609344: miles per hour
km/h 3.6: metres per second, meters per second
km/h 1.852: knot, knots
degC 1: degrees Celsius, degrees centigrade, Grad Celsius
degF 1: degrees Fahrenheit
deg 1: degree, degrees
W 1: watt, watts, Watt
W 1000: kilowatt, kilowatts
W 1000000: megawatt, megawatts
W 1000000000: gigawatt, gigawatts
Wh 1: watt hour, watt hours
Wh 1000: kilowatt hour, kilowatt hours, Kilowattstunden
Wh 1000000: megawatt hour, megawatt hours, Megawattstunden
Wh 1000000000: gigawatt hour, gigawatt hours, Gigawattstunden
Wh 1000000000000: terawatt hour, terawatt hours, Terawattstunden
Hz 1: hertz
B 1: byte, bytes
B 1000: kilobyte, kilobytes
B 1000000: megabyte, megabytes
B 1000000000: gigabyte, gigabytes
% 1: percent, per cent, pct, Prozent, pour cent, por ciento, per cento, procent
% 1: percentage points, percentage point
usd 1: dollar, dollars, US dollars, Dollar, dólares
eur 1: euro, euros, Euro
gbp 1: pounds sterling
jpy 1: yen
inr 1: rupees
chf 1: Swiss francs, Franken
""")
"""Units by their words, looked up in lower case too."""

_SYMBOLS: Final = _table("""
m 1000: km
m 1: m
m 1/100: cm
m 1/1000: mm
m 1/1000000: µm, μm
m 1/1000000000: nm
m 1609.344: mi
m 0.3048: ft
m 0.9144: yd
kg 1: kg
kg 1/1000: g
kg 1/1000000: mg
kg 1000: t
kg 0.45359237: lb, lbs
kg 0.028349523125: oz
s 1: s, sec
s 1/1000: ms
s 60: min
s 3600: h, hr, hrs
m2 1: m², m2, sqm
m2 1000000: km², km2, sqkm
m2 10000: ha
l 1: l, L
l 1/1000: ml
l 1000: m³, m3
km/h 1: km/h, kmh, kph
km/h 3.6: m/s
km/h 1.609344: mph
degC 1: °C, ° C, ℃
degF 1: °F, ° F, ℉
deg 1: °
K 1: K
W 1: W
W 1000: kW
W 1000000: MW
W 1000000000: GW
Wh 1000: kWh
Wh 1000000: MWh
Wh 1000000000: GWh
Wh 1000000000000: TWh
W 1000000000000: TW
V 1: V
Hz 1: Hz
Hz 1000: kHz
Hz 1000000: MHz
Hz 1000000000: GHz
B 1000: kB, KB
B 1000000: MB
B 1000000000: GB
B 1000000000000: TB
% 1: %
% 1/10: ‰
usd 1: $, US$, USD
eur 1: €, EUR
gbp 1: £, GBP
jpy 1: ¥, JPY
inr 1: ₹, INR
chf 1: CHF
nok 1: NOK
sek 1: SEK
dkk 1: DKK
th 1: th
""")
SYMBOLS: Final = _SYMBOLS | {
    unit.dimension: Unit(unit.dimension) for unit in (*WORDS.values(), *_SYMBOLS.values())
}
"""Units by their symbols, exactly as written, and by the names of their dimensions."""

TWOFOLD: Final[dict[str, tuple[Unit, ...]]] = {
    "pound": (Unit("gbp"), Unit("kg", Fraction("0.45359237"))),
    "pounds": (Unit("gbp"), Unit("kg", Fraction("0.45359237"))),
    "tons": (Unit("kg", Fraction(1000)), Unit("kg", Fraction("907.18474"))),
    "ton": (Unit("kg", Fraction(1000)), Unit("kg", Fraction("907.18474"))),
}
"""Words that are two units."""

SCALES: Final[dict[str, int]] = {
    **dict.fromkeys(("thousand", "tausend", "mille", "mil", "mila", "duizend", "千"), 10**3),
    **dict.fromkeys(("万", "萬"), 10**4),
    **dict.fromkeys(("lakh", "lakhs"), 10**5),
    **dict.fromkeys(
        ("million", "millions", "mln", "mio", "millionen", "millón", "millones", "milioni",
         "milione", "milhões", "miljoen"), 10**6),
    **dict.fromkeys(("crore", "crores"), 10**7),
    **dict.fromkeys(("億", "亿"), 10**8),
    **dict.fromkeys(
        ("billion", "billions", "bn", "mrd", "milliarde", "milliarden", "milliard", "milliards",
         "miliardi", "miliardo", "miljard"), 10**9),
    **dict.fromkeys(("trillion", "trillions", "tn"), 10**12),
}  # fmt: skip
"""Words behind a number that multiply it, in lower case."""

ATTACHED: Final[dict[str, int]] = {"k": 10**3, "K": 10**3, "m": 10**6, "M": 10**6, "bn": 10**9}
"""Letters that multiply where no space is before them."""

_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_OTHERS: Final = (
    ("zwei", 2), ("drei", 3), ("vier", 4), ("fünf", 5), ("sechs", 6), ("sieben", 7), ("acht", 8),
    ("neun", 9), ("zehn", 10), ("zwölf", 12), ("deux", 2), ("trois", 3), ("quatre", 4),
    ("cinq", 5), ("sept", 7), ("huit", 8), ("neuf", 9), ("dix", 10), ("onze", 11), ("douze", 12),
    ("dos", 2), ("tres", 3), ("cuatro", 4), ("cinco", 5), ("seis", 6), ("siete", 7), ("ocho", 8),
    ("nueve", 9), ("diez", 10), ("quattro", 4), ("cinque", 5), ("sette", 7), ("otto", 8),
    ("nove", 9), ("dieci", 10), ("twee", 2), ("drie", 3), ("vijf", 5), ("zeven", 7), ("negen", 9),
    ("tien", 10), ("twaalf", 12), ("cien", 100), ("cento", 100), ("hundert", 100), ("honderd", 100),
)  # fmt: skip
UNITS_IN_WORDS: Final[dict[str, int]] = {
    **{word: number for number, word in enumerate(_ONES.split(" "))},
    **{word: 10 * number for number, word in enumerate(_TENS.split(" "), start=2)},
    **dict(_OTHERS),
}
MULTIPLIERS_IN_WORDS: Final[dict[str, int]] = {
    "hundred": 100, "dozen": 12, "thousand": 10**3, "million": 10**6, "billion": 10**9,
}  # fmt: skip
ORDINALS: Final[dict[str, int]] = {
    word: number
    for number, word in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
         "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth",
         "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first"], start=1,
    )
}  # fmt: skip
SHARES: Final[dict[str, tuple[int, int]]] = {
    **dict.fromkeys(
        ("a third", "one third", "ein drittel", "un tiers", "un tercio", "un terzo"), (1, 3)
    ),
    **dict.fromkeys(
        ("two thirds", "zwei drittel", "deux tiers", "dos tercios", "due terzi"), (2, 3)
    ),
    **dict.fromkeys(("a quarter", "one quarter", "ein viertel", "un quart", "un cuarto"), (1, 4)),
    **dict.fromkeys(("three quarters", "drei viertel", "trois quarts", "tres cuartos"), (3, 4)),
    **dict.fromkeys(("a fifth", "one fifth", "ein fünftel", "un cinquième", "un quinto"), (1, 5)),
    **dict.fromkeys(("two fifths", "zwei fünftel"), (2, 5)),
    **dict.fromkeys(("three fifths", "drei fünftel"), (3, 5)),
    **dict.fromkeys(("a tenth", "one tenth", "ein zehntel"), (1, 10)),
}
"""Shares in words: each as a fraction, and as the percentage it is."""

COMMONPLACE: Final = frozenset({"one", "zero", "first", "second"})
"""Words that are said for other reasons than to count: no fact of a claim."""
