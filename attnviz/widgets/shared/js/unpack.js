// Bytes that Python packed (attnviz/widgets/wire.py says how): a header of JSON, then the arrays that it tells of.

export function unpack(bytes) {
  const copy = bytes.slice(); // it arrives at an odd offset, and typed views ask for multiples of four
  const length = new DataView(copy.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(copy.subarray(4, 4 + length)));
  const start = (4 + length + 3) & ~3;
  return { header, array: (Type, offset, count) => new Type(copy.buffer, start + offset, count) };
}

// The colour scales among the arrays, 256 RGB bytes each.
export function scalesIn({ header, array }) {
  const scale = (name) => array(Uint8Array, header.colour[name], 768);
  return {
    light: { sequential: scale("sequential_light"), diverging: scale("diverging_light") },
    dark: { sequential: scale("sequential_dark"), diverging: scale("diverging_dark") },
  };
}
