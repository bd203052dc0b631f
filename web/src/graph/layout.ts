// Places for the nodes of a graph, by forces (d3-force). The same graph always gets the same places.
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type SimulationNodeDatum } from 'd3-force';

/** A graph to lay out: nodes by number, with the places of those that were drawn before. */
export interface LayoutInput {
  /** x and y of each node in turn; NaN for a node without a place. */
  places: Float32Array;
  /** The two ends of each edge in turn. */
  ends: Uint16Array;
}

export interface Layout {
  /** Move the nodes for at most some milliseconds, at least one tick; returns whether they rest. */
  step(milliseconds: number): boolean;
  /** x and y of each node in turn. */
  places(): Float32Array;
}

/** Ticks until the nodes rest; fewer where most of them have a place already. */
const TICKS = 300;
const TICKS_AGAIN = 120;

/** Start a layout; it needs no more than a number of ticks, so that pictures of it are equal. */
export function startLayout({ places, ends }: LayoutInput): Layout {
  const nodes: SimulationNodeDatum[] = Array.from({ length: places.length / 2 }, (_, index) =>
    Number.isNaN(places[2 * index]) ? {} : { x: places[2 * index]!, y: places[2 * index + 1]! },
  );
  const links = Array.from({ length: ends.length / 2 }, (_, index) => ({ source: ends[2 * index]!, target: ends[2 * index + 1]! }));
  const known = nodes.filter((node) => node.x !== undefined).length;
  const again = known > nodes.length / 2;
  const simulation = forceSimulation(nodes)
    .force('links', forceLink(links).distance(60))
    .force('charge', forceManyBody().strength(-140).distanceMax(500))
    .force('x', forceX().strength(0.06))
    .force('y', forceY().strength(0.08))
    .force('apart', forceCollide(12))
    .alpha(again ? 0.4 : 1)
    .stop();
  let left = again ? TICKS_AGAIN : TICKS;
  return {
    step(milliseconds) {
      const until = performance.now() + milliseconds;
      while (left > 0) {
        simulation.tick();
        left -= 1;
        if (performance.now() >= until) break;
      }
      return left === 0;
    },
    places: () => Float32Array.from(nodes.flatMap((node) => [node.x!, node.y!])),
  };
}
