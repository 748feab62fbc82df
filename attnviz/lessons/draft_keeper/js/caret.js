// Returns where the caret is in a lesson's Markdown: its line, from 1, and a name of its place. The name changes with
// the step, and with the line if the line has a key whose value can be chosen from a list.

const KEY = /^[ \t-]*(row|col|measure|cover|show|by|kind):/;

export function caretIn(text, at) {
  const before = text.slice(0, at).split("\n");
  const step = before.filter((one) => one.startsWith("## ")).length;
  const whole = text.split("\n")[before.length - 1] ?? "";
  const key = KEY.exec(whole)?.[1] ?? "";
  return { line: before.length, place: `${step} ${key && `${key} ${before.length}`}` };
}
