// Letters of a class's picture when it is presented: they are as large as lets all of it stand in one window, down to half the size
// that the last row wants (`--letters`, for assets/styles/room.css).

const LARGEST = 30; // twentieths of that size
const LEAST = 10;
const PARTS = ".st-key-class-stage, .st-key-class-asked, .st-key-class-told, .st-key-class-why";

const isCut = ({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
  scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1;

let waiting = 0;

export function fitLettersSoon() {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(fitLetters);
}

function fitLetters() {
  const parts = [...document.querySelectorAll(PARTS)];
  const { style } = document.documentElement;
  for (let size = LARGEST; parts.length > 0 && size >= LEAST; size -= 1) {
    style.setProperty("--letters", size / 20);
    if (!parts.some(isCut)) return;
  }
}
