// Keys of the whole page.
import { undoLast } from './changes';
import { helpShown, viewKeys, type Shortcut } from './keys';
import { go, link } from './place';
import { routes } from './routes';

/** Whether keys are text here and no commands. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input:not([type=checkbox],[type=range]), textarea, select, [contenteditable]') !== null;

let afterG = false;

/** Move the focus to the search field, on its own view where the page shows none. */
export function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>('[data-search]');
  if (field) {
    field.focus();
    field.select();
  } else {
    go(link('/search'));
  }
}

export function handleKey(event: KeyboardEvent): void {
  if (event.repeat) {
    // A key that is held acts once: it would answer one question after the other, and confirm what it has opened.
    if (event.key === 'Enter' && event.target instanceof Element && event.target.closest('button')) event.preventDefault();
    return;
  }
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (document.querySelector('dialog[open]')) return; // a dialog has keys of its own
  if (afterG) {
    afterG = false;
    const route = routes.find((one) => one.key === event.key);
    if (route) {
      event.preventDefault();
      go(link(route.path));
    }
    return;
  }
  const own = viewKeys.value.findLast((one) => one.key === event.key);
  const run = own?.run ?? PAGE_KEYS.find((one) => one.key === event.key)?.run;
  if (!run) return;
  event.preventDefault();
  run();
}

/** Keys that work in every view. */
export const PAGE_KEYS: readonly Shortcut[] = [
  { key: '/', words: 'Search', run: focusSearch },
  { key: '?', words: 'Show the keys', run: () => (helpShown.value = true) },
  { key: 'g', words: 'Go to a view: a letter follows', run: () => (afterG = true) },
  { key: 'u', words: 'Undo the last change', run: undoLast },
];
