// Arguments as they are typed.

/** Words as a shell would take them apart: blanks, quotes, backslashes. */
export function splitWords(text) {
  const words = [];
  const piece = /"((?:\\.|[^"\\])*)"|'([^']*)'|((?:\\.|[^\s"'\\])+)|(\s+)/gs;
  let word = null;
  for (const [, double, single, bare, blank] of text.matchAll(piece)) {
    if (blank !== undefined) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? "") + (single ?? (double ?? bare).replace(/\\(.)/gs, "$1"));
  }
  if (word !== null) words.push(word);
  return words;
}
