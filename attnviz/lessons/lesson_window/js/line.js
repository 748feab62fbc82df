// One end of the line between two windows of this browser: a lesson's panel, and its picture. What either tells has a
// number; the newest is kept at both ends, so that a window that is loaded anew, or whose server was started anew, has it
// again. A window that has nothing to say is asked now and then: one that was killed cannot say goodbye.

const EVERY = 2000; // milliseconds
const MISSED = 3; // questions without an answer until the other is taken for gone

// `isOn` says whether this window is still what its end says. `hear` is given the newest { revision, text }; `meet`
// whether the other window is there, whenever that changes; `leave` is called when the other asks this one to close.
export function lineOf({ name, role, isOn, hear, meet, leave, every = EVERY }) {
  const channel = new BroadcastChannel(`attnviz-lesson-${name}`);
  const line = { name, role, newest: { revision: 0, text: "" }, isMet: false };
  let missed = 0;

  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
  const say = (kind) => channel.postMessage({ kind, role, ...line.newest });
  const take = ({ revision, text }) => {
    if (!(revision > line.newest.revision)) return false;
    line.newest = { revision, text };
    return true;
  };
  const seen = (isMet) => {
    if (line.isMet === isMet) return;
    line.isMet = isMet;
    meet(isMet);
  };

  channel.onmessage = ({ data }) => {
    if (data.role === role || !isOn()) return;
    if (data.kind === "close") return leave();
    missed = data.kind === "bye" ? MISSED - 1 : 0; // it may be loading anew
    if (data.kind !== "bye") seen(true);
    if (take(data)) hear(line.newest);
    else if (data.revision < line.newest.revision || data.kind === "ask") say("here");
  };
  const ask = () => {
    if (!isOn()) return seen(false);
    say("ask");
    if ((missed += 1) > MISSED) seen(false);
  };
  const timer = setInterval(ask, every);
  const bye = () => isOn() && say("bye");
  addEventListener("pagehide", bye);

  line.tell = (found) => take(found) && say("here");
  line.askToClose = () => say("close");
  line.end = () => {
    say("bye");
    clearInterval(timer);
    removeEventListener("pagehide", bye);
    channel.close();
    seen(false);
  };
  ask();
  return line;
}
