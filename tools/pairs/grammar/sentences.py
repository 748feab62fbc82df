"""Which sentences of the grammar there are: every combination of its words, in English and four translations each."""

from tools.pairs.grammar.of_animals import jumps, reasons, rests
from tools.pairs.grammar.of_people import deadlines, gifts, orders, weathers
from tools.pairs.grammar.of_things import comparisons, there_are

KINDS = {
    jumps: 400, rests: 200, reasons: 1000, there_are: 250, orders: 200, comparisons: 150, deadlines: 150, gifts: 200,
    weathers: 60,
}  # fmt: skip
"""What there is, and how many of each are drawn."""
