// Lays graphs out beside the page, which stays quick meanwhile. A newer graph ends the older one's layout.
import { startLayout, type LayoutInput } from './graph/layout';

/** Milliseconds of work between two pictures. */
const BETWEEN = 30;
let latest = 0;

onmessage = (event: MessageEvent<LayoutInput & { run: number; whole: boolean }>): void => {
  const { run, whole } = event.data;
  latest = run;
  const layout = startLayout(event.data);
  const go = (): void => {
    if (run !== latest) return;
    const rests = layout.step(BETWEEN);
    if (rests || !whole) {
      const places = layout.places();
      postMessage({ run, places, rests }, { transfer: [places.buffer] });
    }
    if (!rests) setTimeout(go);
  };
  go();
};
