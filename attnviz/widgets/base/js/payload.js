// What every tab's header holds, attnviz/views/tab_payload.py says.

function decodePayload(bytes) {
  const payload = opened(bytes);
  return { ...payload, scales: scalesIn(payload) };
}
