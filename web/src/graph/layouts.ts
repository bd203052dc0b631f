// Runs layouts in the worker, or on the page itself where it was opened from a folder and has none.
import { exported } from '../exported';
import { startLayout, type LayoutInput } from './layout';

export type Placed = (places: Float32Array, rests: boolean) => void;

export interface Layouts {
  /** Lay a graph out; `whole` tells only of the end, for those who want no motion. */
  start(input: LayoutInput, whole: boolean): void;
  end(): void;
}

export function layouts(placed: Placed): Layouts {
  return exported ? onThePage(placed) : inTheWorker(placed);
}

function inTheWorker(placed: Placed): Layouts {
  const worker = new Worker('assets/worker.js');
  let run = 0;
  worker.onmessage = (event: MessageEvent<{ run: number; places: Float32Array; rests: boolean }>) => {
    if (event.data.run === run) placed(event.data.places, event.data.rests);
  };
  return {
    start(input, whole) {
      run += 1;
      worker.postMessage({ ...input, run, whole });
    },
    end: () => worker.terminate(),
  };
}

/** A few milliseconds at a time, so that the page still answers. */
function onThePage(placed: Placed): Layouts {
  let timer = 0;
  return {
    start(input, whole) {
      clearTimeout(timer);
      const layout = startLayout(input);
      const go = (): void => {
        const rests = layout.step(10);
        if (rests || !whole) placed(layout.places(), rests);
        if (!rests) timer = window.setTimeout(go);
      };
      go();
    },
    end: () => clearTimeout(timer),
  };
}
