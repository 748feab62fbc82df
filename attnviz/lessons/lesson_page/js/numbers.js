// Numbers as Python's format writes them.

// As `:.2f` for two.
export const decimals = (number, places) => number.toFixed(places);

// As `:.0%`: of two whole numbers that are equally near the even one.
export function percent(share) {
  const [exact, up] = [share * 100, Math.round(share * 100)];
  return `${up - exact === 0.5 && up % 2 ? up - 1 : up}%`;
}

// As `:.3g` for three significant digits, without zeros at the end.
export function general(number, digits) {
  if (number === 0) return "0";
  const [mantissa, power] = number.toExponential(digits - 1).split("e");
  if (power >= -4 && power < digits) return String(Number(number.toPrecision(digits)));
  const [sign, size] = [power < 0 ? "-" : "+", String(Math.abs(power)).padStart(2, "0")];
  return `${Number(mantissa)}e${sign}${size}`;
}

// A number as people type it, with a decimal point or comma. Returns { typed, number }; for a comma that may separate
// thousands { typed, whole, decimal }, both readings as texts; for any other text { typed }.
export function readNumber(text) {
  const typed = text.trim().replaceAll("−", "-");
  if (/^[+-]?[1-9]\d{0,2},\d{3}$/.test(typed))
    return { typed, whole: typed.replace(",", ""), decimal: typed.replace(",", ".") };
  const plain = /^[+-]?\d*,\d+$/.test(typed) ? typed.replace(",", ".") : typed;
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  return Number.isFinite(number) ? { typed, number } : { typed };
}
