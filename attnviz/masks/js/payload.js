// Decoding of what Python sends (attnviz/masks/mask_lab.py says how it is laid out).

import { scalesIn, unpack } from "../../kit/js/unpack.js";

export function decodeLab(bytes) {
  const { header, array } = unpack(bytes);
  const [q, k, d] = header.shape;
  const floats = (offset, size) => (offset === null ? null : array(Float32Array, offset, size));
  return {
    header: { ...header, base: header.id },
    q,
    k,
    d,
    scores: floats(header.scores, q * k),
    masked: floats(header.masked, q * k),
    attn: floats(header.attn, q * k),
    context: floats(header.context, q * d),
    rules: array(Uint8Array, header.rules, q * k),
    indexed: (header.indexed ?? null) === null ? null : array(Uint8Array, header.indexed, q * k),
    scales: scalesIn({ header, array }),
  };
}

export function largestFinite(...maps) {
  let most = 0;
  for (const map of maps)
    for (const value of map ?? []) if (Number.isFinite(value) && Math.abs(value) > most) most = Math.abs(value);
  return most || 1;
}
