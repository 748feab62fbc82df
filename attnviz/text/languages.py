"""Names of languages by their codes: two letters (ISO 639-1), or three letters as in NLLB (ISO 639-3)."""

_KNOWN = """
af afr Afrikaans; am amh Amharic; ar arb Arabic; ast ast Asturian; az azj Azerbaijani; ba bak Bashkir; be bel Belarusian
bg bul Bulgarian; bn ben Bengali; bs bos Bosnian; ca cat Catalan; ceb ceb Cebuano; cs ces Czech; cy cym Welsh
da dan Danish; de deu German; el ell Greek; en eng English; es spa Spanish; et est Estonian; eu eus Basque
fa pes Persian; fi fin Finnish; fr fra French; ga gle Irish; gd gla Scottish Gaelic; gl glg Galician; gu guj Gujarati
ha hau Hausa; he heb Hebrew; hi hin Hindi; hr hrv Croatian; ht hat Haitian Creole; hu hun Hungarian; hy hye Armenian
id ind Indonesian; ig ibo Igbo; ilo ilo Ilocano; is isl Icelandic; it ita Italian; ja jpn Japanese; jv jav Javanese
ka kat Georgian; kk kaz Kazakh; km khm Khmer; kn kan Kannada; ko kor Korean; ky kir Kyrgyz; lb ltz Luxembourgish
lg lug Ganda; ln lin Lingala; lo lao Lao; lt lit Lithuanian; lv lvs Latvian; mg plt Malagasy; mi mri Maori
mk mkd Macedonian; ml mal Malayalam; mn khk Mongolian; mr mar Marathi; ms zsm Malay; mt mlt Maltese; my mya Burmese
nb nob Norwegian Bokmål; ne npi Nepali; nl nld Dutch; nn nno Norwegian Nynorsk; no nor Norwegian; ny nya Nyanja
oc oci Occitan; or ory Odia; pa pan Punjabi; pl pol Polish; ps pbt Pashto; pt por Portuguese; qu quy Quechua
rn run Rundi; ro ron Romanian; ru rus Russian; rw kin Kinyarwanda; sa san Sanskrit; sd snd Sindhi; si sin Sinhala
sk slk Slovak; sl slv Slovenian; sm smo Samoan; sn sna Shona; so som Somali; sq als Albanian; sr srp Serbian
ss ssw Swati; st sot Southern Sotho; su sun Sundanese; sv swe Swedish; sw swh Swahili; ta tam Tamil; te tel Telugu
tg tgk Tajik; th tha Thai; ti tir Tigrinya; tk tuk Turkmen; tl tgl Tagalog; tn tsn Tswana; tr tur Turkish
ts tso Tsonga; tt tat Tatar; ug uig Uyghur; uk ukr Ukrainian; ur urd Urdu; uz uzn Uzbek; vi vie Vietnamese
wo wol Wolof; xh xho Xhosa; yi ydd Yiddish; yo yor Yoruba; zh zho Chinese; zu zul Zulu
"""


def _names() -> dict[str, str]:
    known = (entry.split(maxsplit=2) for line in _KNOWN.strip().splitlines() for entry in line.split(";"))
    return {code: name for short, long, name in known for code in (short, long)}


_NAMES = _names()


def language_name(code: str) -> str:
    """Return the name of a language, such as French for `fr`, or the code itself if it is unknown."""
    return _NAMES.get(code, code)


def named_code(code: str) -> str:
    """Return a checkpoint's language code with the language's name before it, such as "French, fra_Latn".

    An unknown code is returned alone.
    """
    name = language_name(code.replace("-", "_").split("_")[0])
    return f"{name}, {code}" if name not in code else code
