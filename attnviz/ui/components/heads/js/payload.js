// Decoding of what Python sends (attnviz/views/heads_payload.py says how it is laid out).

function decodePayload(bytes) {
  const copy = bytes.slice(); // it arrives at an odd offset, and typed views ask for multiples of four
  const length = new DataView(copy.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(copy.subarray(4, 4 + length)));
  const start = (4 + length + 3) & ~3;
  const kinds = new Map(header.kinds.map((raw) => [raw.kind, readKind(raw, copy.buffer, start)]));
  const exact = new Map();
  for (const entry of header.exact) readExact(entry, kinds, exact, { buffer: copy.buffer, start });
  return { header, kinds, exact, scales: readScales(header.colour, copy.buffer, start) };
}

function readKind(raw, buffer, start) {
  const [layers, heads, rows, cols] = raw.shape;
  const { offset, height, width } = raw.overview;
  const kind = { ...raw, layers, heads, nRows: rows, nCols: cols };
  kind.thumbs = new Uint8Array(buffer, start + offset, layers * heads * height * width);
  kind.thumbHeight = height;
  kind.thumbWidth = width;
  kind.isPooled = height < rows || width < cols;
  kind.rowTokens = raw.row_tokens ?? raw.rows.map((_, i) => [i]);
  kind.colTokens = raw.col_tokens ?? raw.cols.map((_, i) => [i]);
  kind.masks = raw.mask ? readMasks(raw.mask, rows * cols, buffer, start) : null;
  return kind;
}

function readMasks({ offset, layers, heads }, cells, buffer, start) {
  const total = layers * heads * cells;
  const bits = new Uint8Array(buffer, start + offset, Math.ceil(total / 8));
  const seen = new Uint8Array(total);
  for (let i = 0; i < total; i++) seen[i] = (bits[i >> 3] >> (i & 7)) & 1;
  return { layers, heads, seen };
}

function readExact(entry, kinds, exact, { buffer, start }) {
  const kind = kinds.get(entry.kind);
  const cells = kind.nRows * kind.nCols;
  const piece = (index) => new Float32Array(buffer, start + entry.offset + 4 * cells * index, cells);
  if (entry.layer !== undefined) {
    exact.set(siteKey(entry.kind, entry.layer, entry.head), piece(0));
    return;
  }
  for (let layer = 0; layer < kind.layers; layer++)
    for (let head = 0; head < kind.heads; head++)
      exact.set(siteKey(entry.kind, layer, head), piece(layer * kind.heads + head));
}

function readScales(offsets, buffer, start) {
  const scale = (name) => new Uint8Array(buffer, start + offsets[name], 768);
  return {
    light: { sequential: scale("sequential_light"), diverging: scale("diverging_light") },
    dark: { sequential: scale("sequential_dark"), diverging: scale("diverging_dark") },
  };
}

const siteKey = (kind, layer, head) => `${kind}/${layer}/${head}`;
