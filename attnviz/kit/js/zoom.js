// Zooming into rows or columns of a long map: windows of them, [first, after the last].

import { clamp } from "./cells.js";

export const ZOOM_STEP = 1.6;
export const LEAST_WINDOW = 3; // rows or columns

// The window made smaller or larger by a factor, at least by one, around `at`; of `length` rows or columns in all.
export function scaled([from, to], { factor, at, length }) {
  const size = to - from;
  const wanted = factor > 1 ? Math.min(size - 1, size / factor) : Math.max(size + 1, size / factor);
  const newSize = Math.round(clamp(wanted, Math.min(length, LEAST_WINDOW), length));
  return startingAt(Math.round(at + 0.5 - newSize / 2), newSize, length);
}

// A window of `size`, moved into the whole.
export function startingAt(start, size, length) {
  const from = clamp(start, 0, length - size);
  return [from, from + size];
}
