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
