// Where a live run's moments wait for the picture: a small component brings them five times a second, and whoever draws
// listens (widgets/learning_feed, widgets/learning). Both are bundles of their own and meet here.

const feeds = (globalThis.attnvizFeeds ??= new Map());

export function feedOf(key) {
  if (!feeds.has(key)) feeds.set(key, { state: "waiting", ahead: 0, count: 0, pieces: [], hear: new Set() });
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
  }
  for (const hear of run.hear) hear();
  return isWhole;
}
