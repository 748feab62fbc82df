// Decoding of what Python sends (attnviz/views/stepper_payload.py says how it is laid out).

function decodePayload(bytes) {
  const copy = bytes.slice(); // it arrives at an odd offset, and typed views ask for multiples of four
  const length = new DataView(copy.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(copy.subarray(4, 4 + length)));
  const start = (4 + length + 3) & ~3;
  return { header, kinds: header.kinds.map((raw) => readKind(raw, copy.buffer, start)), scales: readScales(header.colour, copy.buffer, start) };
}

function readKind(raw, buffer, start) {
  const [layers, heads, nRows, nCols] = raw.shape;
  const count = raw.only ? nRows * nCols : layers * heads * nRows * nCols;
  return { ...raw, layers, heads, nRows, nCols, data: new Float32Array(buffer, start + raw.offset, count), maps: new Map() };
}

function readScales(offsets, buffer, start) {
  const scale = (name) => new Uint8Array(buffer, start + offsets[name], 768);
  return {
    light: { sequential: scale("sequential_light"), diverging: scale("diverging_light") },
    dark: { sequential: scale("sequential_dark"), diverging: scale("diverging_dark") },
  };
}

const count = (length) => Array.from({ length }, (_, i) => i);

// One head's map or the mean of several; null where Python has not sent it (a long text).
function mapOf(kind, layer, head) {
  if (kind.only) return kind.only[0] === layer && kind.only[1] === head ? kind.data : null;
  const key = `${layer}/${head}`;
  if (!kind.maps.has(key)) kind.maps.set(key, meanOf(kind, layer, head));
  return kind.maps.get(key);
}

function meanOf(kind, layer, head) {
  const cells = kind.nRows * kind.nCols;
  const layers = layer === "mean" ? count(kind.layers) : [layer];
  const heads = head === "mean" ? count(kind.heads) : [head];
  const parts = layers.flatMap((l) => heads.map((h) => kind.data.subarray((l * kind.heads + h) * cells, (l * kind.heads + h + 1) * cells)));
  if (parts.length === 1) return parts[0];
  const sums = new Float64Array(cells);
  for (const part of parts) for (let i = 0; i < cells; i++) sums[i] += part[i];
  return Float32Array.from(sums, (sum) => sum / parts.length);
}
