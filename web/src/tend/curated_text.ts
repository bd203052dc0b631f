// The text of a curated file in an editor: entries parted by lines that hold only §.

const PARTED = /(?:^|\n)[ \t]*§[ \t]*(?=\n|$)/g;
export const DELIMITER = '\n§\n';

export interface Entry {
  text: string;
  /** The line of the editor on which it begins, from 1. */
  line: number;
}

/** Return the entries of an editor's text, without empty ones, each with its line. */
export function entriesOf(text: string): Entry[] {
  const found: Entry[] = [];
  let start = 0;
  const add = (end: number): void => {
    const part = text.slice(start, end);
    const trimmed = part.trim();
    if (trimmed) found.push({ text: trimmed, line: text.slice(0, start + part.indexOf(trimmed)).split('\n').length });
  };
  for (const match of text.matchAll(PARTED)) {
    add(match.index);
    start = match.index + match[0].length;
  }
  add(text.length);
  return found;
}

/** Return how many characters entries have together with what parts them, as the store counts them. */
export function charsOf(entries: readonly Entry[]): number {
  return Array.from(entries.map((entry) => entry.text).join(DELIMITER)).length;
}

export interface Problem {
  /** Null where the message is about the whole file. */
  line: number | null;
  message: string;
}

/** Return where in the editor an error of `curate` is, by the entry that its message names. */
export function problemOf(message: string, entries: readonly Entry[]): Problem {
  const index = /^entries\[(\d+)\](?:\.content)?: /.exec(message);
  if (!index) return { line: null, message };
  return { line: entries[Number(index[1])]?.line ?? null, message: message.slice(index[0].length) };
}
