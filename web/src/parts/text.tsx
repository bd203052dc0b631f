// Text of memories, names and times: data, never markup.
import { Fragment } from 'preact';

/** Characters that turn the reading direction, have no width or no shape: shown by their number. */
const UNSEEN = /([\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff])/u;

/** The number of a character that the eye does not see. */
const numberOf = (letter: string): string => `U+${letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/** A text with what the eye does not see shown by its number, for where no markup is possible. */
export const shownText = (text: string): string =>
  text
    .split(UNSEEN)
    .map((part, index) => (index % 2 ? numberOf(part) : part))
    .join('');

/** A text as it is, with what the eye does not see shown by its number. */
export function PlainText({ children, class: look }: { children: string; class?: string }) {
  return (
    <span class={`text ${look ?? ''}`} dir="auto">
      {children.split(UNSEEN).map((part, index) =>
        index % 2 ? (
          <span key={index} class="unseen">
            {numberOf(part)}
          </span>
        ) : (
          <Fragment key={index}>{part}</Fragment>
        ),
      )}
    </span>
  );
}

const WITH_TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/** A moment in the time zone of the reader; a moment at midnight UTC is a day, and is shown as one. */
export function Time({ at }: { at: string | null }) {
  if (at === null) return <span class="quiet">unknown</span>;
  return (
    <time dateTime={at} title={at}>
      {timeText(at)}
    </time>
  );
}

/** The words of a moment, as `Time` shows them. */
export function timeText(at: string): string {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return at;
  return /T00:00:00(\.0+)?(Z|\+00:00)$/.test(at) ? DAY.format(moment) : WITH_TIME.format(moment);
}

/** A count with its noun: "1 memory", "2 memories". */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en-GB')} ${number === 1 ? one : many}`;
}

/** The beginning of a text on one line. */
export function beginning(text: string, most = 80): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const letters = Array.from(line.slice(0, most * 2 + 2)); // a pair of surrogates is one letter
  return letters.length > most ? `${letters.slice(0, most).join('')}…` : line;
}
