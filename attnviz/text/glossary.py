"""The terms that pages show, each defined in a sentence or two: what a person reads under the pointer.

A page asks by the term as it is written on screen; a term that is missing is an error, so that a test finds it.
"""

HEADS = {
    "Entropy": "How spread a row of weights is, in nats: 0 when all weight lies on one key, ln of the number of keys when "
    "all keys get the same. Shown is the mean over the head's rows.",
}
MASKS: dict[str, str] = {}
DECODING: dict[str, str] = {}
SITE: dict[str, str] = {}

TERMS = HEADS | MASKS | DECODING | SITE


def definition(term: str) -> str:
    """What a term means, in a sentence or two. Raises KeyError for a term that nobody has defined."""
    return TERMS[term]
