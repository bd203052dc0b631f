// A graph to walk through: the picture, what is filtered, and the same as lists.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { call, CallError } from '../api';
import { notify } from '../changes';
import { useLoad } from '../load';
import { Button } from '../parts/button';
import { Choice } from '../parts/field';
import { Nothing, WhenLoaded } from '../parts/status';
import { beginning, count, shownText } from '../parts/text';
import { go, link } from '../place';
import type { GraphView } from '../types';
import { GraphCanvas, type Actions } from './canvas';
import { GraphFilters } from './filters';
import { NodeList, RelationTable } from './lists';
import { collapsed, drawn, expanded, MOST_ADDED, MOST_SHOWN, NO_FILTERS, readAgain, toAdd, visible, withHidden, withNothingHidden, type Drawing } from './shown';

const LIMITS = [30, 60, 150, 300, MOST_SHOWN] as const;

export interface ExplorerProps {
  /** Name or id of the entity in the centre. */
  centre?: string;
  /** Names of the entities to draw instead of a neighbourhood, such as those of a community. */
  members?: readonly string[];
  /** Most entities at first. */
  limit?: number;
}

interface Asked {
  limit: number;
  depth: number;
  chunks: boolean;
  withdrawn: boolean;
}

export function GraphExplorer({ centre, members, limit = 60 }: ExplorerProps) {
  const [asked, setAsked] = useState<Asked>({ limit: Math.min(limit, MOST_SHOWN), depth: 2, chunks: false, withdrawn: false });
  const [drawing, setDrawing] = useState<{ question: string; of: Drawing } | null>(null);
  const question = JSON.stringify({ centre, members, ...asked });
  const latest = useRef(drawing);
  latest.current = drawing;
  const loaded = useLoad<GraphView>(
    question,
    (signal) => {
      const shown = latest.current?.question === question ? latest.current.of : null;
      return readGraph(shown, { signal });
    },
    { keep: true },
  );
  const readGraph = async (shown: Drawing | null, options: { signal?: AbortSignal } = {}): Promise<GraphView> => {
    const view = await call<GraphView>('graph', graphArguments({ centre, members, asked, shown }), options);
    return members ? { ...view, left_out: 0 } : view; // what lies around the first member is not asked for
  };
  useLayoutEffect(() => {
    if (loaded.value === null || loaded.loading) return;
    const before = latest.current;
    const again = before?.question === question;
    setDrawing({ question, of: again ? readAgain(before.of, loaded.value) : drawn(loaded.value) });
  }, [loaded.value, loaded.loading]);
  return (
    <div class="explorer">
      <div class="filters">
        {!members && (
          <>
            <Choice
              label="Show at most"
              value={String(asked.limit)}
              options={[...new Set([...LIMITS, asked.limit])].sort((a, b) => a - b).map((most) => [String(most), count(most, 'entity', 'entities')])}
              onChange={(most) => setAsked({ ...asked, limit: Number(most) })}
            />
            <Choice
              label="Within"
              value={String(asked.depth)}
              options={[1, 2, 3].map((steps) => [String(steps), count(steps, 'step')])}
              onChange={(steps) => setAsked({ ...asked, depth: Number(steps) })}
            />
          </>
        )}
        <Choice
          label="Nodes"
          value={asked.chunks ? 'all' : 'entities'}
          options={[
            ['entities', 'Entities'],
            ['all', 'Entities and memories'],
          ]}
          onChange={(kind) => setAsked({ ...asked, chunks: kind === 'all' })}
        />
        <Choice
          label="Withdrawn relations"
          value={asked.withdrawn ? 'with' : 'without'}
          options={[
            ['without', 'Left out'],
            ['with', 'Shown, with “At any time”'],
          ]}
          onChange={(kind) => setAsked({ ...asked, withdrawn: kind === 'with' })}
        />
      </div>
      <WhenLoaded of={loaded}>
        {() =>
          drawing && <Drawn of={drawing.of} centreName={loaded.value?.center ?? null} hasCentre={!members} asked={asked} read={readGraph} onChange={(of) => setDrawing({ question, of })} />
        }
      </WhenLoaded>
    </div>
  );
}

/** Return the arguments of `graph`: the neighbourhood at first, later what is drawn, as it is now. */
function graphArguments({ centre, members, asked, shown }: { centre?: string; members?: readonly string[]; asked: Asked; shown: Drawing | null }) {
  const named = shown ? [...shown.nodes.keys()] : (members?.slice(0, asked.limit) ?? []);
  const isListed = shown !== null || members !== undefined;
  return {
    center: centre ?? named[0],
    depth: members ? 1 : asked.depth,
    limit: isListed ? 1 : asked.limit,
    also: [...named],
    chunks: asked.chunks,
    states: asked.withdrawn ? ['active', 'superseded', 'archived'] : ['active', 'superseded'],
  };
}

interface DrawnProps {
  of: Drawing;
  centreName: string | null;
  hasCentre: boolean;
  asked: Asked;
  /** Reads what is drawn again, with the edges among all of it. */
  read: (of: Drawing) => Promise<GraphView>;
  onChange: (of: Drawing) => void;
}

function Drawn({ of, centreName, hasCentre, asked, read, onChange }: DrawnProps) {
  const centre = hasCentre ? ([...of.nodes.values()].find((node) => node.distance === 0)?.id ?? null) : null;
  const [chosen, setChosen] = useState<string | null>(centre);
  const [filters, setFilters] = useState(NO_FILTERS);
  const now = useMemo(() => Date.now(), [of]);
  const seen = useMemo(() => visible(of, filters, centre, now), [of, filters, centre, now]);
  const held = of.nodes.has(chosen ?? '') ? chosen : centre;
  const nameOf = (id: string): string => beginning(shownText(of.nodes.get(id)?.name ?? id), 60);
  const actions: Actions = {
    choose: setChosen,
    open: (id) => go(of.nodes.get(id)?.kind === 'chunk' ? link('/memory/:id', { id }) : link('/entity/:id', { id })),
    expand: (id) => void expand(id),
    collapse: (id) => onChange(collapsed(of, id)),
    hide: (id) => {
      if (id === centre) return notify(`${nameOf(id)} is the centre, and stays.`);
      setChosen(centre);
      onChange(withHidden(of, id));
    },
  };
  const expand = async (id: string): Promise<void> => {
    if (of.nodes.size >= MOST_SHOWN) return notify(`${MOST_SHOWN} entities are drawn, which is the most. Collapse some first.`);
    const near = new Set(of.edges.flatMap((edge) => (edge.source === id ? [edge.target] : edge.target === id ? [edge.source] : [])));
    const args = graphArguments({ centre: id, asked, shown: of });
    try {
      const view = await call<GraphView>('graph', { ...args, depth: 1, limit: near.size + 1 + MOST_ADDED });
      const { added, more } = toAdd(of, view);
      const after = expanded(of, id, added);
      onChange(added.length ? readAgain(after, await read(after)) : after);
      const rest = more ? ` ${count(more, 'more is', 'more are')} not shown: expand again for them.` : '';
      notify(added.length ? `${count(added.length, 'neighbour')} of ${nameOf(id)} added.${rest}` : `${nameOf(id)} has no further neighbours.`);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      notify(error.message, { failed: true });
    }
  };
  const shown = seen.nodes.length;
  const reach = of.nodes.size + of.leftOut;
  const node = held === null ? undefined : of.nodes.get(held);
  return (
    <>
      <GraphFilters of={of} filters={filters} onChange={setFilters} />
      <p id="graph-says" role="status">
        {shown === reach ? count(shown, 'node') : `${shown} of ${count(reach, 'node')} shown`}
        {`, ${count(seen.edges.length, 'edge')}.`}
        {of.leftOut > 0 && ` ${count(of.leftOut, 'node lies', 'nodes lie')} beyond the limit.`}
        {node && ` Chosen: ${nameOf(node.id)}, ${beginning(node.type, 40)}, ${count(node.degree, 'edge')} in all.`}
      </p>
      <GraphCanvas of={seen} centre={centre} chosen={held} actions={actions} describedBy="graph-says" />
      <div class="actions">
        <Button disabled={held === null} keys="e" onClick={() => held !== null && actions.expand(held)}>
          Expand
        </Button>
        <Button disabled={held === null} keys="c" onClick={() => held !== null && actions.collapse(held)}>
          Collapse
        </Button>
        <Button disabled={held === null || held === centre} keys="h" onClick={() => held !== null && actions.hide(held)}>
          Hide
        </Button>
        <Button disabled={held === null || held === centre} keys="Enter" onClick={() => held !== null && actions.open(held)}>
          Open
        </Button>
        {of.hidden.size > 0 && <Button onClick={() => onChange(withNothingHidden(of))}>{`Show ${of.hidden.size} hidden`}</Button>}
      </div>
      {shown < 2 && <Nothing>{`Nothing joins ${beginning(shownText(centreName ?? 'it'), 60)} to others at this time, with these filters.`}</Nothing>}
      <div class="graph-beside">
        <NodeList nodes={seen.nodes} chosen={held} actions={actions} brought={new Set(of.broughtBy.values())} />
        <RelationTable of={seen} nodes={of.nodes} chosen={held} />
      </div>
    </>
  );
}
