// This browser's role and token in a class. A student's token is kept for all tabs (two of them are one student, and a phone that
// slept is still there); a teacher's for this tab alone, so that a shared computer forgets it with the tab. A teacher's
// link carries its secret behind "#", which no browser sends to a server; it leaves the address before anything else.

import { whileThere } from "../../app/widgets/screen/js/listening.js";

const NAME = "attnviz-class";
const TEACHER = "teacher";
const ROLES = [TEACHER, "student"]; // a teacher's seat before a student's: who has both came to teach
const SECRET = /^#teach=([\w-]{16,200})$/;

const storeOf = (role) => (role === TEACHER ? sessionStorage : localStorage);

// A browser may refuse storage: then the role lasts for this visit only.
function read(role) {
  try {
    const found = JSON.parse(storeOf(role).getItem(NAME));
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

function write(role, seats) {
  try {
    storeOf(role).setItem(NAME, JSON.stringify(seats));
  } catch {
    return;
  }
}

const without = (seats, code) => Object.fromEntries(Object.entries(seats).filter(([known]) => known !== code));

export default function ({ parentElement, data, setStateValue }) {
  const seat = parentElement.querySelector(".class-seat");
  const { code, keep, left } = data;
  if (keep) write(keep.role, { ...read(keep.role), [code]: keep.token });
  for (const role of ROLES) if (left && read(role)[code] === left) write(role, without(read(role), code));
  const tell = () => {
    const found = secretOf(code) ?? (keep ? null : storedOf(code));
    if (!found || seat.told === found.token) return;
    seat.told = found.token;
    setStateValue("seat", { code, ...found });
  };
  if (!seat.tell) whileThere(seat, "hashchange", () => seat.tell(), window);
  seat.tell = tell;
  tell();
}

function secretOf(code) {
  const token = SECRET.exec(location.hash)?.[1];
  if (!token) return null;
  history.replaceState(history.state, "", location.pathname + location.search);
  write(TEACHER, { ...read(TEACHER), [code]: token });
  return { role: TEACHER, token };
}

function storedOf(code) {
  const seats = ROLES.map((role) => ({ role, token: read(role)[code] }));
  return seats.find(({ token }) => typeof token === "string") ?? null;
}
