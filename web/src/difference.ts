// What changed between two texts, word by word: the longest common subsequence of their words.

export interface Piece {
  text: string;
  kind: 'same' | 'added' | 'removed';
}

/** Above this product of word counts the texts are shown whole, old and new: the table would be too large. */
const MOST_CELLS = 250_000;

/** Return the pieces that lead from one text to the other, in order. */
export function difference(before: string, after: string): Piece[] {
  const old = before.split(/(\s+)/).filter(Boolean);
  const now = after.split(/(\s+)/).filter(Boolean);
  if (old.length * now.length > MOST_CELLS) return joined([piece('removed', before), piece('added', after)]);
  const common = lengths(old, now);
  const pieces: Piece[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) {
      pieces.push(piece('same', old[i]!));
      i += 1;
      j += 1;
    } else if (common[i + 1]![j]! >= common[i]![j + 1]!) {
      pieces.push(piece('removed', old[i]!));
      i += 1;
    } else {
      pieces.push(piece('added', now[j]!));
      j += 1;
    }
  }
  pieces.push(piece('removed', old.slice(i).join('')), piece('added', now.slice(j).join('')));
  return joined(pieces);
}

const piece = (kind: Piece['kind'], text: string): Piece => ({ kind, text });

/** Table of the lengths of the common words from each place on. */
function lengths(old: readonly string[], now: readonly string[]): Uint32Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      table[i]![j] = old[i] === now[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
    }
  }
  return table;
}

function joined(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  for (const one of pieces) {
    const last = all.at(-1);
    if (!one.text) continue;
    if (last?.kind === one.kind) last.text += one.text;
    else all.push({ ...one });
  }
  return all;
}
