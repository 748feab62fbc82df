"""Heads: every attention head of the model on one sentence, and one of them large."""

from attnviz.ui import frame, session

request = frame.page("Heads")

# Below here torch is imported: by then the input can be used.
from attnviz.analysis.metrics import head_metrics
from attnviz.analysis.shown import shown
from attnviz.ui import heads_data, heads_view
from attnviz.ui.components.heads import heads
from attnviz.views.heads_payload import heads_payload
from attnviz.views.sentence_strip import sentence_strip

trace = frame.run(lambda: session.trace(request))
view = heads_view.current(trace, request.entry)
maps = {kind: shown(trace, kind, specials=view.specials, words=view.words) for kind in trace.kinds}
metrics = head_metrics(maps, trace)
heads(
    heads_payload(maps, metrics, view=view.to_payload(), strip=sentence_strip(trace)),
    on_change=heads_view.adopt,
)
heads_data.below(trace, maps[view.kind], view)
frame.finish(request, trace, view)
