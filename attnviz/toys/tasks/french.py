"""English to French, in a grammar of 83 words with word order, gender, number and agreement.

"the black dogs see my small car" is "les chiens noirs voient ma petite voiture". There are 338,688 sentences.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from random import Random

from attnviz.toys.tasks.task import Defaults, Example, ToyTask, Words

# English; French for a masculine, a feminine and any plural noun.
DETERMINERS = (("the", "le", "la", "les"), ("my", "mon", "ma", "mes"), ("your", "ton", "ta", "tes"))
# English; masculine, feminine, masculine plural, feminine plural; whether the adjective precedes its noun.
ADJECTIVES = (
    ("small", ("petit", "petite", "petits", "petites"), True),
    ("big", ("grand", "grande", "grands", "grandes"), True),
    ("old", ("vieux", "vieille", "vieux", "vieilles"), True),
    ("black", ("noir", "noire", "noirs", "noires"), False),
    ("white", ("blanc", "blanche", "blancs", "blanches"), False),
    ("red", ("rouge", "rouge", "rouges", "rouges"), False),
)
# English and French, singular and plural; no noun begins with a vowel, so that nothing is elided.
MASCULINE = (
    ("dog", "dogs", "chien", "chiens"), ("cat", "cats", "chat", "chats"),
    ("horse", "horses", "cheval", "chevaux"), ("boy", "boys", "garçon", "garçons"),
)  # fmt: skip
FEMININE = (
    ("cow", "cows", "vache", "vaches"), ("frog", "frogs", "grenouille", "grenouilles"),
    ("car", "cars", "voiture", "voitures"), ("house", "houses", "maison", "maisons"),
)  # fmt: skip
# English and French, for a singular and for a plural subject.
VERBS = (
    ("sees", "see", "voit", "voient"), ("follows", "follow", "suit", "suivent"), ("loves", "love", "aime", "aiment")
)  # fmt: skip


@dataclass(frozen=True)
class Phrase:
    """A noun with its determiner and perhaps an adjective, in both languages.

    `order` gives the position of the English word for each French word.
    """

    english: Words
    french: Words
    order: tuple[int, ...]
    is_plural: bool


def _phrases() -> tuple[Phrase, ...]:
    nouns = [(noun, 0) for noun in MASCULINE] + [(noun, 1) for noun in FEMININE]
    return tuple(
        _phrase(determiner, adjective, *noun, many)
        for determiner, adjective, noun, many in product(DETERMINERS, (None, *ADJECTIVES), nouns, (0, 1))
    )


def _phrase(determiner: Words, adjective: tuple | None, noun: Words, gender: int, many: int) -> Phrase:
    first, last = determiner[3 if many else 1 + gender], noun[2 + many]
    if adjective is None:
        return Phrase((determiner[0], noun[many]), (first, last), (0, 1), bool(many))
    english, forms, is_before = adjective
    middle = forms[2 * many + gender]
    french, order = ((first, middle, last), (0, 1, 2)) if is_before else ((first, last, middle), (0, 2, 1))
    return Phrase((determiner[0], english, noun[many]), french, order, bool(many))


class French(ToyTask):
    """The task of translating sentences that say who sees, follows or loves whom."""

    name, title, sample = "french", "English to French", "the black dogs see my small car"
    spaced, held_out = True, 0.15
    defaults = Defaults()

    def __init__(self) -> None:
        self.phrases = _phrases()
        english = {word for phrase in self.phrases for word in phrase.english} | {w for verb in VERBS for w in verb[:2]}
        french = {word for phrase in self.phrases for word in phrase.french} | {w for verb in VERBS for w in verb[2:]}
        self.words = (*sorted(english), *sorted(french))

    @property
    def n_sentences(self) -> int:
        """Number of sentences in the grammar."""
        return len(VERBS) * len(self.phrases) ** 2

    def draw(self, random: Random) -> Words:
        subject, object_ = random.choice(self.phrases), random.choice(self.phrases)
        return (*subject.english, random.choice(VERBS)[subject.is_plural], *object_.english)

    def answer(self, src: Words) -> Words | None:
        parsed = self._parse_sentence(src)
        if parsed is None:
            return None
        subject, verb, object_ = parsed
        return (*subject.french, verb[2 + subject.is_plural], *object_.french)

    def aligned_places(self, example: Example) -> frozenset[tuple[int, int]]:
        parsed = self._parse_sentence(example.src)
        if parsed is None:
            return frozenset()
        subject, _, object_ = parsed
        verb = len(subject.order)
        places = (*subject.order, verb, *(verb + 1 + place for place in object_.order))
        return frozenset(enumerate(places))

    def is_clear(self, example: Example) -> bool:
        """Check that the adjective changes its position in one phrase and keeps it in the other."""
        parsed = self._parse_sentence(example.src)
        return parsed is not None and {parsed[0].order, parsed[2].order} == {(0, 1, 2), (0, 2, 1)}

    def is_grammatical(self, tgt: Words) -> bool:
        """Check whether words form a French sentence of this grammar."""
        for place, word in enumerate(tgt):
            numbers = [many for _, _, *forms in VERBS for many in (0, 1) if forms[many] == word]
            if numbers:
                return self._french.get(tgt[:place]) == bool(numbers[0]) and tgt[place + 1 :] in self._french
        return False

    def _parse_sentence(self, src: Words) -> tuple[Phrase, Words, Phrase] | None:
        verb = next((place for place, word in enumerate(src) if word in self._verbs), None)
        if verb is None:
            return None
        subject, object_ = self._english.get(src[:verb]), self._english.get(src[verb + 1 :])
        if subject is None or object_ is None or self._verbs[src[verb]][subject.is_plural] != src[verb]:
            return None
        return subject, self._verbs[src[verb]], object_

    @cached_property
    def _verbs(self) -> dict[str, Words]:
        return {word: verb for verb in VERBS for word in verb[:2]}

    @cached_property
    def _english(self) -> dict[Words, Phrase]:
        return {phrase.english: phrase for phrase in self.phrases}

    @cached_property
    def _french(self) -> dict[Words, bool]:
        return {phrase.french: phrase.is_plural for phrase in self.phrases}
