// Copies this page's address with the query that Python made. Where the browser refuses (no permission, plain http from
// another machine), the link is shown, selected, to be copied by hand.
export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button");
  const field = parentElement.querySelector("input");
  button.onclick = async () => {
    const link = `${location.origin}${location.pathname}?${data.query}`;
    try {
      await navigator.clipboard.writeText(link);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy link"), 1500);
    } catch {
      field.hidden = false;
      field.value = link;
      field.select();
      field.onblur = () => (field.hidden = true);
    }
  };
}
