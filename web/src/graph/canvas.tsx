// The picture of a graph: panned, zoomed and walked by pointer and keys. It draws only when something changes.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isDark } from '../theme';
import { beginning, shownText } from '../parts/text';
import { layouts, type Layouts } from './layouts';
import { fitted, lookOf, LOOKS, neighbourTowards, nodeAt, paint, radiusOf, zoomed, type Camera, type Colours, type Context, type Scene } from './paint';
import type { Visible } from './shown';

export interface Actions {
  choose: (id: string) => void;
  open: (id: string) => void;
  expand: (id: string) => void;
  collapse: (id: string) => void;
  hide: (id: string) => void;
}

export interface CanvasProps {
  of: Visible;
  centre: string | null;
  chosen: string | null;
  actions: Actions;
  describedBy: string;
}

const HELP =
  'Graph of entities. Arrow keys walk to a neighbour, Enter opens it, e expands, c collapses, h hides, plus and minus zoom, 0 shows all, Shift with an arrow moves the picture. The list below holds the same.';
const LABEL_LETTERS = 26;
/** Pixels around the picture that are painted before a move brings them into view. */
const MARGIN = 240;
const EMPTY: Scene = { nodes: [], edges: [], order: [], labels: [], looks: [], radii: [], chosen: -1, centre: -1 };
const STILL = matchMedia('(prefers-reduced-motion: reduce)');
const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export function GraphCanvas(props: CanvasProps) {
  const place = useRef<HTMLCanvasElement>(null);
  const picture = useRef<Picture | null>(null);
  const latest = useRef(props);
  latest.current = props;
  // Before the next frame, so that a key that is pressed at once walks from the node that is chosen now.
  useLayoutEffect(() => {
    const made = new Picture(place.current!, () => latest.current);
    picture.current = made;
    return () => made.end();
  }, []);
  useLayoutEffect(() => picture.current?.show(), [props.of, props.centre]);
  useLayoutEffect(() => picture.current?.restyle(), [props.chosen, isDark.value]);
  return <canvas class="graph" ref={place} tabIndex={0} role="application" aria-label={HELP} aria-describedby={props.describedBy} />;
}

/** What is drawn on one canvas; owns its layout, camera and listeners. */
class Picture {
  private scene: Scene = EMPTY;
  private places: Float32Array = new Float32Array(0);
  /** Whether nothing but a move has happened since the last frame, and the picture that moves are drawn from. */
  private moving = false;
  private wide: { copy: OffscreenCanvas; camera: Camera } | null = null;
  /** Whether the layout has come to its end; `data-settled` says so once that is drawn. */
  private rests = false;
  /** Whether every node has a place. */
  private isPlaced = false;
  private camera: Camera = { x: 0, y: 0, zoom: 1 };
  /** Whether a person has moved the picture, which then stays as it is. */
  private moved = false;
  private frame = 0;
  private frames = 0;
  /** The size that the canvas had when it was last looked at. */
  private size = '';
  private colours: Colours;
  private readonly layout: Layouts;
  private readonly resized: ResizeObserver;
  private readonly context: CanvasRenderingContext2D;
  private readonly pointers = new Map<number, { x: number; y: number; moved: boolean }>();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly props: () => CanvasProps,
  ) {
    this.context = canvas.getContext('2d', { alpha: false })!;
    this.colours = coloursOf(canvas);
    this.layout = layouts((places, rests) => {
      this.places = places;
      this.isPlaced = true;
      if (!this.moved) this.fit();
      this.rests = rests;
      this.ask();
    });
    this.resized = new ResizeObserver(() => {
      if (this.size === this.sizeNow()) return; // it tells of the first size too
      this.size = this.sizeNow();
      if (!this.moved) this.fit();
      this.ask();
    });
    this.resized.observe(canvas);
    canvas.addEventListener('pointerdown', this.press);
    canvas.addEventListener('pointermove', this.drag);
    canvas.addEventListener('pointerup', this.release);
    canvas.addEventListener('pointercancel', this.release);
    canvas.addEventListener('dblclick', this.expandAt);
    canvas.addEventListener('wheel', this.wheel, { passive: false });
    canvas.addEventListener('keydown', this.key);
  }

  /** Draw other nodes and edges; nodes that were drawn before keep their places. */
  show(): void {
    const { of: given, centre } = this.props();
    const of = inOrder(given);
    const before = new Map(this.scene.nodes.map((node, index) => [node.id, index]));
    const numbers = new Map(of.nodes.map((node, index) => [node.id, index]));
    const isSame = sameShape(of, this.scene);
    const edges = of.edges.map((edge) => [numbers.get(edge.source)!, numbers.get(edge.target)!, edge] as const);
    const degrees = of.nodes.map(() => 0);
    for (const [one, other] of edges) {
      degrees[one]! += 1;
      degrees[other]! += 1;
    }
    const places = keptPlaces(of.nodes.map((node) => before.get(node.id)), this.places, edges);
    this.scene = {
      nodes: of.nodes,
      edges,
      order: of.nodes.map((_, index) => index).sort((one, other) => degrees[other]! - degrees[one]!),
      labels: of.nodes.map((node) => beginning(shownText(node.name), LABEL_LETTERS)),
      looks: of.nodes.map((node) => lookOf(node.type)),
      radii: degrees.map(radiusOf),
      chosen: -1,
      centre: centre === null ? -1 : (numbers.get(centre) ?? -1),
    };
    this.mark();
    this.ask();
    if (isSame) return; // only what is known of it is new: it keeps its layout, done or under way
    this.places = places;
    this.isPlaced = !places.some(Number.isNaN);
    this.rests = false;
    this.layout.start({ places, ends: Uint16Array.from(edges.flatMap(([one, other]) => [one, other])) }, STILL.matches);
  }

  /** Draw again in the colours of now, with the node that is chosen now. */
  restyle(): void {
    this.colours = coloursOf(this.canvas);
    this.mark();
    this.ask();
  }

  end(): void {
    this.layout.end();
    this.resized.disconnect();
    cancelAnimationFrame(this.frame);
  }

  private mark(): void {
    const { chosen } = this.props();
    this.scene = { ...this.scene, chosen: this.scene.nodes.findIndex((node) => node.id === chosen) };
  }

  private sizeNow(): string {
    return `${this.canvas.clientWidth} ${this.canvas.clientHeight}`;
  }

  private fit(): void {
    this.size = this.sizeNow();
    this.camera = fitted(this.places, this.canvas.clientWidth, this.canvas.clientHeight);
  }

  /** Draw soon; whatever asks but a move makes the copy that moves are drawn from out of date. */
  private ask(): void {
    this.moving = false;
    this.wide = null;
    this.drawSoon();
  }

  private drawSoon(): void {
    this.canvas.dataset.settled = 'false';
    this.frame ||= requestAnimationFrame(this.draw);
  }

  private readonly draw = (): void => {
    this.frame = 0;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const scale = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
    }
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    if (this.moving) this.shift(width, height, scale);
    else this.paintOn(this.context, width, height, this.camera);
    this.frames += 1;
    this.canvas.dataset.frames = String(this.frames); // tests count them: none is drawn while nothing changes
    this.canvas.dataset.settled = String(this.rests);
  };

  private paintOn(context: Context, width: number, height: number, camera: Camera): void {
    paint(context, width, height, this.isPlaced ? this.scene : EMPTY, this.places, camera, this.colours);
  }

  /** Draw by copying: a picture with a margin is painted once, and again where a move has used the margin up. */
  private shift(width: number, height: number, scale: number): void {
    const past = this.wide;
    const away = past ? Math.max(Math.abs(this.camera.x - past.camera.x), Math.abs(this.camera.y - past.camera.y)) : MARGIN;
    if (past === null || away >= MARGIN) {
      const copy = new OffscreenCanvas(Math.round((width + 2 * MARGIN) * scale), Math.round((height + 2 * MARGIN) * scale));
      const context = copy.getContext('2d', { alpha: false })!;
      context.scale(scale, scale);
      this.paintOn(context, width + 2 * MARGIN, height + 2 * MARGIN, { ...this.camera, x: this.camera.x + MARGIN, y: this.camera.y + MARGIN });
      this.wide = { copy, camera: this.camera };
    }
    const { copy, camera } = this.wide!;
    this.context.drawImage(copy, this.camera.x - camera.x - MARGIN, this.camera.y - camera.y - MARGIN, width + 2 * MARGIN, height + 2 * MARGIN);
  }

  private move(x: number, y: number): void {
    this.moved = true;
    this.camera = { ...this.camera, x: this.camera.x + x, y: this.camera.y + y };
    this.moving ||= !this.frame; // a frame that waits has more to draw than the move
    this.drawSoon();
  }

  private zoom(factor: number, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2): void {
    this.moved = true;
    this.camera = zoomed(this.camera, factor, x, y);
    this.ask();
  }

  private idAt(event: MouseEvent): string | null {
    const box = this.canvas.getBoundingClientRect();
    return this.scene.nodes[nodeAt(this.places, this.camera, event.clientX - box.x, event.clientY - box.y)]?.id ?? null;
  }

  private readonly press = (event: PointerEvent): void => {
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY, moved: this.pointers.size > 0 });
    this.canvas.setPointerCapture(event.pointerId);
  };

  private readonly drag = (event: PointerEvent): void => {
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer) return;
    const [x, y] = [event.clientX - pointer.x, event.clientY - pointer.y];
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      // Two fingers: by how much they came apart, around the one that rests.
      const box = this.canvas.getBoundingClientRect();
      const far = (at: { x: number; y: number }): number => Math.hypot(at.x - other.x, at.y - other.y) || 1;
      this.zoom(far({ x: event.clientX, y: event.clientY }) / far(pointer), other.x - box.x, other.y - box.y);
    } else if (pointer.moved || Math.abs(x) + Math.abs(y) > 3) {
      this.move(x, y);
    } else {
      return; // not far enough to be more than a click
    }
    Object.assign(pointer, { x: event.clientX, y: event.clientY, moved: true });
  };

  private readonly release = (event: PointerEvent): void => {
    const pointer = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    if (!pointer || pointer.moved || event.type === 'pointercancel') return;
    const id = this.idAt(event);
    if (id !== null) this.props().actions.choose(id);
  };

  private readonly expandAt = (event: MouseEvent): void => {
    const id = this.idAt(event);
    if (id !== null) this.props().actions.expand(id);
  };

  private readonly wheel = (event: WheelEvent): void => {
    // A wheel scrolls the page; with Ctrl, or by two fingers on a pad, it zooms the picture.
    if (!event.ctrlKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    const box = this.canvas.getBoundingClientRect();
    this.zoom(Math.exp(-event.deltaY / 400), event.clientX - box.x, event.clientY - box.y);
  };

  private readonly key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = DIRECTIONS[event.key];
    if (direction && event.shiftKey) this.move(-40 * direction[0], -40 * direction[1]);
    else if (direction) this.walk(...direction);
    else if (event.key === '+' || event.key === '=') this.zoom(1.25);
    else if (event.key === '-') this.zoom(0.8);
    else if (event.key === '0') {
      this.moved = false;
      this.fit();
      this.ask();
    } else if (!this.act(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };

  private walk(right: number, down: number): void {
    const { chosen, centre } = this.scene;
    if (chosen < 0) {
      const start = this.scene.nodes[Math.max(centre, 0)];
      if (start) this.props().actions.choose(start.id);
      return;
    }
    const next = this.scene.nodes[neighbourTowards(this.scene, this.places, chosen, right, down)];
    if (next) this.props().actions.choose(next.id);
  }

  /** Do what a letter stands for with the chosen node; returns whether it stands for anything. */
  private act(key: string): boolean {
    const { actions, chosen } = this.props();
    const name = ({ Enter: 'open', e: 'expand', c: 'collapse', h: 'hide' } as const)[key as 'e'];
    if (!name || chosen === null) return false;
    actions[name](chosen);
    return true;
  }
}

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Return nodes and edges in the order of their ids, so that the same graph is the same picture. */
function inOrder(of: Visible): Visible {
  return {
    nodes: [...of.nodes].sort((one, other) => compared(one.id, other.id)),
    edges: [...of.edges].sort(
      (one, other) => compared(one.source, other.source) || compared(one.target, other.target) || compared(one.type + one.id, other.type + other.id),
    ),
  };
}

/** Whether the same nodes are joined as in a scene. */
function sameShape(of: Visible, scene: Scene): boolean {
  return (
    of.nodes.length === scene.nodes.length &&
    of.edges.length === scene.edges.length &&
    of.nodes.every((node, index) => node.id === scene.nodes[index]!.id) &&
    of.edges.every((edge, index) => edge.source === scene.edges[index]![2].source && edge.target === scene.edges[index]![2].target)
  );
}

/** Return the places of nodes that were drawn before; a new one starts beside a neighbour, else it has NaN. */
function keptPlaces(old: readonly (number | undefined)[], before: Float32Array, edges: Scene['edges']): Float32Array {
  const places = new Float32Array(2 * old.length).fill(NaN);
  for (const [index, was] of old.entries()) {
    if (was !== undefined && 2 * was < before.length) places.set(before.subarray(2 * was, 2 * was + 2), 2 * index);
  }
  const known = places.slice();
  const start = (node: number, beside: number): void => {
    if (!Number.isNaN(places[2 * node]) || Number.isNaN(known[2 * beside])) return;
    places[2 * node] = known[2 * beside]! + 30 * Math.cos(node);
    places[2 * node + 1] = known[2 * beside + 1]! + 30 * Math.sin(node);
  };
  for (const [one, other] of edges) {
    start(one, other);
    start(other, one);
  }
  return places;
}

function coloursOf(canvas: HTMLCanvasElement): Colours {
  const style = getComputedStyle(canvas);
  const named = (name: string): string => style.getPropertyValue(name).trim();
  return {
    background: named('--background'),
    text: named('--text'),
    quiet: named('--quiet'),
    edge: named('--control'),
    accent: named('--accent'),
    types: Array.from({ length: LOOKS }, (_, look) => named(`--type-${look}`)),
  };
}
