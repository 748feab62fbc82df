// Hands the moments of live runs to the widget that draws them; draws nothing itself.

import { feed, feedOf } from "./js/feeds.js";
import { unpack } from "../../kit/js/unpack.js";

export default function ({ data, setStateValue }) {
  if (!data) return;
  const { header, array } = unpack(data);
  for (const piece of header.runs)
    if (!feed(piece.key, piece, array)) setStateValue("have", { key: piece.key, count: feedOf(piece.key).count });
}
