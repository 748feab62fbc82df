// Decoding of what Python sends (attnviz/views/mask_payload.py says how it is laid out).

function decodeLab(bytes) {
  const copy = bytes.slice(); // it arrives at an odd offset, and typed views ask for multiples of four
  const length = new DataView(copy.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(copy.subarray(4, 4 + length)));
  const start = (4 + length + 3) & ~3;
  const [q, k, d] = header.shape;
  const floats = (offset, size) => (offset === null ? null : new Float32Array(copy.buffer, start + offset, size));
  const bytesAt = (offset, size) => new Uint8Array(copy.buffer, start + offset, size);
  const scale = (name) => bytesAt(header.colour[name], 768);
  return {
    header: { ...header, base: header.id }, q, k, d,
    scores: floats(header.scores, q * k), masked: floats(header.masked, q * k),
    attn: floats(header.attn, q * k), context: floats(header.context, q * d),
    rules: bytesAt(header.rules, q * k),
    scales: {
      light: { sequential: scale("sequential_light"), diverging: scale("diverging_light") },
      dark: { sequential: scale("sequential_dark"), diverging: scale("diverging_dark") },
    },
  };
}

const span = (length) => Array.from({ length }, (_, i) => i);

function largestFinite(...maps) {
  let most = 0;
  for (const map of maps) for (const value of map ?? []) if (Number.isFinite(value) && Math.abs(value) > most) most = Math.abs(value);
  return most || 1;
}
