// Sentences in the language of the lesson. A phrase is English with a {placeholder} for each of its values, which may
// be phrases, too; a page has the translations of all of them.

export const phrase = (english, values = {}) => ({ english, values });

// The function that writes a phrase as text, by translations of English sentences. A text stays as it is.
export function speaker(translations) {
  const say = (said) => {
    if (!said?.english) return String(said ?? "");
    const template = translations[said.english] ?? said.english;
    return template.replace(/\{(\w+)\}/g, (hole, name) => (name in said.values ? say(said.values[name]) : hole));
  };
  return say;
}
