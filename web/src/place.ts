// The address within the page, which names the view that is shown; the table of views is routes.ts.
import { signal } from '@preact/signals';

/** The address within the page: what follows `#`. */
export const place = signal('/');
addEventListener('hashchange', readPlace);

/** Read the address again. */
export function readPlace(): void {
  place.value = location.hash.startsWith('#/') ? location.hash.slice(1) : '/';
}

/** Return the address of a view, such as `link('/memory/:id', {id})`; what is empty is left out of the query. */
export function link(path: string, params: Record<string, string | number | undefined> = {}): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === '') continue;
    if (path.includes(`:${name}`)) filled = filled.replace(`:${name}`, encodeURIComponent(value));
    else query.set(name, String(value));
  }
  const asked = query.toString();
  return `#${filled}${asked ? `?${asked}` : ''}`;
}

/** Show another address; `replace` leaves no step for the back button, as for a query that is being typed. */
export function go(address: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, '', address);
  } else {
    location.hash = address;
  }
  readPlace(); // the event comes later, and a key that is pressed before it would mean the view that was left
}
