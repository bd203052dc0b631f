// Whether anything is under way that changes what is shown: a request, or a view that is about to ask.
let underWay = 0;

function count(by: number): void {
  underWay += by;
  document.documentElement.dataset.busy = String(underWay > 0); // tests look at a page once it is false
}

/** Say that something began; returns what to call at its end. */
export function begin(): () => void {
  let ended = false;
  count(1);
  return () => {
    if (!ended) count(-1);
    ended = true;
  };
}
