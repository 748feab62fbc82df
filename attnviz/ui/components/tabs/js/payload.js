// Decoding of what Python sends: attnviz/views/binary.py says how it is laid out, attnviz/views/tab_payload.py what
// every header holds.

function decodePayload(bytes) {
  const copy = bytes.slice(); // it arrives at an odd offset, and typed views ask for multiples of four
  const length = new DataView(copy.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(copy.subarray(4, 4 + length)));
  const start = (4 + length + 3) & ~3;
  const array = (Type, offset, count) => new Type(copy.buffer, start + offset, count);
  const scale = (name) => array(Uint8Array, header.colour[name], 768);
  const scales = {
    light: { sequential: scale("sequential_light"), diverging: scale("diverging_light") },
    dark: { sequential: scale("sequential_dark"), diverging: scale("diverging_dark") },
  };
  return { header, array, scales };
}
