// Choosing, where Python has to answer at once and where it only hears of it. A tab brings AT_ONCE.

function change(app, patch) {
  const began = performance.now();
  Object.assign(app.view, patch);
  app.seq += 1;
  settle(app);
  paint(app, began);
  reportSoon(app, AT_ONCE.some((name) => name in patch) ? 0 : SETTLE_MS);
}

const isIndex = (value, length) => Number.isInteger(value) && value >= 0 && value < length;
