// Weights as planes: of all numbers the first byte, then of all the second, and so on, which deflate better. `spans` are
// [offset, numbers, bytes of each] of float32 numbers among the bytes. Of two bytes each, the higher first, a number is
// 65535 times the weight; four are the float32 as it is (in_planes in attnviz/hosts/html/one_file.py).

export function withoutPlanes(bytes, spans) {
  const saved = spans.reduce((sum, [, count, width]) => sum + (4 - width) * count, 0);
  const whole = new Uint8Array(bytes.length + saved);
  let [from, to] = [0, 0];
  for (const [offset, count, width] of spans) {
    whole.set(bytes.subarray(from, from + offset - to), to);
    from += offset - to;
    const planes = Array.from({ length: width }, (_, i) => bytes.subarray(from + i * count, from + (i + 1) * count));
    if (width === 4) planes.forEach((plane, i) => plane.forEach((byte, at) => (whole[offset + 4 * at + i] = byte)));
    else new Float32Array(whole.buffer, offset, count).set(rounded(planes));
    from += width * count;
    to = offset + 4 * count;
  }
  whole.set(bytes.subarray(from), to);
  return whole;
}

const rounded = ([high, low]) => Float32Array.from(high, (byte, at) => ((byte << 8) | low[at]) / 65535);

// Bytes that stand deflated in a text, in base64.
export async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
