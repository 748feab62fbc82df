"""Controls that only Python can answer, by widget: a file of its own is drawn without them (a header's `lacks`)."""

PYTHON_ONLY: dict[str, tuple[str, ...]] = {
    "heads": ("specials", "words", "off", "cells", "plotly", "table", "npz"),
    "links": ("kind",),
    "every_head": ("kind", "row", "open"),
    "neuron": ("kind", "layer", "head"),
    "flow": ("by", "flow"),
    "span_shares": ("spans", "answer", "shares", "hidden"),
    "alignment": ("way",),
    "stepper": ("open",),
    "reply": ("layer", "head", "take"),
    "switches": ("off", "put", "measure", "count"),
    "patching": ("step", "put"),
    "attribution": ("step", "drops"),
}
