"""Words of the small grammar in five languages, with the features that others agree with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun. Genders: m, f, n. `zh_cl` is its measure word. `de_dative` is the dative plural where it is needed."""

    en: str
    fr: str
    fr_gender: str
    de: str
    de_gender: str
    es: str
    es_gender: str
    zh: str
    zh_cl: str


@dataclass(frozen=True, slots=True)
class Plural:
    """A noun in the plural; the gender of French and Spanish."""

    en: str
    fr: str
    fr_gender: str
    de: str
    es: str
    es_gender: str
    zh: str


@dataclass(frozen=True, slots=True)
class Adjective:
    """An adjective before or after its noun.

    `fr` is masculine, masculine before a vowel, feminine, and the two plurals; `fr_first` says that it precedes its
    noun. `de` takes endings. `es` is masculine and feminine, and the two plurals; `es_first` the singular that stands
    before a noun (masculine, feminine), if it does.
    """

    en: str
    fr: tuple[str, str, str, str, str]
    fr_first: bool
    de: str
    es: tuple[str, str, str, str]
    es_first: tuple[str, str] | None
    zh: str


@dataclass(frozen=True, slots=True)
class Quality:
    """An adjective of excess: *too tired*. `es_verb` is era or estaba."""

    en: str
    fr: tuple[str, str]
    de: str
    es: tuple[str, str]
    es_verb: str
    zh: str


@dataclass(frozen=True, slots=True)
class Comparative:
    """*bigger* and its like: French after *plus* (or alone), German and Spanish whole, Chinese plain."""

    en: str
    fr: tuple[str, str]
    de: str
    es: tuple[str, str]
    zh: str
