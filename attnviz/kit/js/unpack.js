// Bytes that Python packed (attnviz/kit/wire.py says how): a header of JSON, then the arrays that it tells of.

// They come as a Uint8Array or a DataView, or as a list of these, one part after the other.
export function unpack(data) {
  const bytes = joined(data);
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const start = (4 + length + 3) & ~3;
  return { header, array: arraysIn(bytes.buffer, start) };
}

// A copy: the bytes arrive at an odd offset, and typed views ask for multiples of four.
function joined(data) {
  const viewed = ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength);
  const parts = [data].flat().map(viewed);
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

// The same bytes with another header.
export function repacked(data, change) {
  const bytes = joined(data);
  const { header } = unpack(bytes);
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const json = new TextEncoder().encode(JSON.stringify(change(header)));
  const start = (4 + json.length + 3) & ~3;
  const blobs = bytes.subarray((4 + length + 3) & ~3);
  const made = new Uint8Array(start + blobs.length);
  new DataView(made.buffer).setUint32(0, json.length, true);
  made.set(json, 4);
  made.set(blobs, start);
  return made;
}

const arraysIn = (buffer, start) => (Type, offset, count) => new Type(buffer, start + offset, count);

// The same for arrays that were deflated.
export async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return arraysIn(await new Response(stream).arrayBuffer(), 0);
}

// The colour scales among the arrays, 256 RGB bytes each.
export function scalesIn({ header, array }) {
  const scale = (name) => array(Uint8Array, header.colour[name], 768);
  return {
    light: { sequential: scale("sequential_light"), diverging: scale("diverging_light") },
    dark: { sequential: scale("sequential_dark"), diverging: scale("diverging_dark") },
  };
}
