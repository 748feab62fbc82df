// Where a live run's moments wait for the picture: a small component brings those of the last second, and they are shown
// five times a second to its listeners (widgets/learning_feed, widgets/learning). Both are bundles of their own and
// meet here.

const BEAT_MS = 200;
const BEATS = 5; // between two pieces

const feeds = (globalThis.attnvizFeeds ??= new Map());
let timer = null;

// `count` moments have come, and the first `shown` of them are to be seen.
export function feedOf(key) {
  if (!feeds.has(key))
    feeds.set(key, { state: "waiting", ahead: 0, count: 0, shown: 0, pace: 0, pieces: [], hear: new Set() });
  return feeds.get(key);
}

// Takes a piece in, whose moments begin with number `since`; false where some before it are missing.
export function feed(key, piece, array) {
  const run = feedOf(key);
  Object.assign(run, { state: piece.state, ahead: piece.ahead });
  const isWhole = piece.since <= run.count;
  if (isWhole && piece.moments) {
    run.count = piece.since + piece.moments.steps.length;
    run.pieces.push({ piece, array });
    run.pace = (run.count - run.shown) / BEATS;
  }
  show(run);
  tell([run]);
  timer ??= setInterval(beat, BEAT_MS);
  return isWhole;
}

// The next few moments; all of them when the run is over.
function show(run) {
  const isOver = run.state === "done" || run.state === "failed";
  run.shown = isOver ? run.count : Math.min(run.count, run.shown + run.pace);
}

function beat() {
  const behind = [...feeds.values()].filter(({ shown, count }) => shown < count);
  if (!behind.length) {
    clearInterval(timer);
    timer = null;
  }
  behind.forEach(show);
  tell(behind);
}

// Two runs side by side are drawn at once.
function tell(runs) {
  for (const hear of new Set(runs.flatMap((run) => [...run.hear]))) hear();
}
