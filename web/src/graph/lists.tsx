// What the picture of a graph shows, as lists: for screen readers, for keys, and for those who read better than look.
import { EntityLink, MemoryLink } from '../parts/memory';
import { List, type Primary } from '../parts/list';
import { beginning, count, PlainText, shownText, Time } from '../parts/text';
import type { GraphEdge, GraphNode } from '../types';
import type { Actions } from './canvas';
import { lookOf } from './paint';
import type { Visible } from './shown';

/** Most edges that the table lists; it says where there are more. */
const MOST_ROWS = 200;

export interface NodeListProps {
  nodes: readonly GraphNode[];
  chosen: string | null;
  actions: Actions;
  /** Ids of nodes that were expanded. */
  brought: ReadonlySet<string>;
}

export function NodeList({ nodes, chosen, actions, brought }: NodeListProps) {
  const act = (key: string, node: GraphNode): boolean => {
    if (key === 'e') actions.expand(node.id);
    else if (key === 'c') actions.collapse(node.id);
    else if (key === 'h') actions.hide(node.id);
    else return false;
    return true;
  };
  return (
    <section aria-labelledby="nodes-title">
      <h3 id="nodes-title">{`What is drawn (${nodes.length})`}</h3>
      <div class="scrolled">
        <List label="What is drawn" rows={nodes} id={(node) => node.id} onKey={act}>
          {(node, primary) => <NodeRow node={node} primary={primary} isChosen={node.id === chosen} isExpanded={brought.has(node.id)} actions={actions} />}
        </List>
      </div>
    </section>
  );
}

function NodeRow({ node, primary, isChosen, isExpanded, actions }: { node: GraphNode; primary: Primary; isChosen: boolean; isExpanded: boolean; actions: Actions }) {
  const name = beginning(shownText(node.name), 40);
  const { tabIndex } = primary;
  return (
    <>
      {node.kind === 'chunk' ? <MemoryLink id={node.id} text={node.name} primary={primary} /> : <EntityLink name={node.name} id={node.id} primary={primary} />}
      <p class="marks">
        <span class={`swatch swatch-${lookOf(node.type)}`} />
        <PlainText>{beginning(node.type, 40)}</PlainText>
        <span>{count(node.degree, 'edge')}</span>
        {isChosen && <span class="mark">chosen</span>}
        <button type="button" class="link" tabIndex={tabIndex} aria-label={`Choose ${name}`} onClick={() => actions.choose(node.id)}>
          Choose
        </button>
        <button type="button" class="link" tabIndex={tabIndex} aria-label={`Expand ${name}`} onClick={() => actions.expand(node.id)}>
          Expand
        </button>
        {isExpanded && (
          <button type="button" class="link" tabIndex={tabIndex} aria-label={`Collapse ${name}`} onClick={() => actions.collapse(node.id)}>
            Collapse
          </button>
        )}
        <button type="button" class="link" tabIndex={tabIndex} aria-label={`Hide ${name}`} onClick={() => actions.hide(node.id)}>
          Hide
        </button>
      </p>
    </>
  );
}

export interface RelationTableProps {
  of: Visible;
  nodes: ReadonlyMap<string, GraphNode>;
  chosen: string | null;
}

/** The edges at the chosen node, or all of them where none is chosen. */
export function RelationTable({ of, nodes, chosen }: RelationTableProps) {
  const rows = chosen === null ? of.edges : of.edges.filter((edge) => edge.source === chosen || edge.target === chosen);
  const name = chosen === null ? null : beginning(shownText(nodes.get(chosen)?.name ?? ''), 60);
  return (
    <div>
      <h3 id="edges-title">{name === null ? `Edges (${rows.length})` : `Neighbours of ${name} (${rows.length})`}</h3>
      {rows.length > MOST_ROWS && <p class="quiet">{`${MOST_ROWS} of ${rows.length} shown.`}</p>}
      {rows.length > 0 && (
        <div class="scrolled" tabIndex={0} role="region" aria-labelledby="edges-title">
          <table class="relation-table">
            <thead>
              <tr>
                <th scope="col">From</th>
                <th scope="col">Relation</th>
                <th scope="col">To</th>
                <th scope="col">Known</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, MOST_ROWS).map((edge, index) => (
                <tr key={edge.id || index}>
                  <td>
                    <End node={nodes.get(edge.source)} />
                  </td>
                  <td>
                    <PlainText>{beginning(edge.type, 60)}</PlainText>
                  </td>
                  <td>
                    <End node={nodes.get(edge.target)} />
                  </td>
                  <td>
                    <Known edge={edge} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function End({ node }: { node: GraphNode | undefined }) {
  if (!node) return null;
  return node.kind === 'chunk' ? <MemoryLink id={node.id} text={node.name} /> : <EntityLink name={node.name} id={node.id} />;
}

function Known({ edge }: { edge: GraphEdge }) {
  return (
    <span class="marks">
      {edge.inferred && <span class="mark">inferred</span>}
      {edge.layer && <span class="mark">{edge.layer}</span>}
      {edge.state && edge.state !== 'active' && <span class={`mark state-${edge.state}`}>{edge.state}</span>}
      {edge.valid_from && (
        <span>
          from <Time at={edge.valid_from} />
        </span>
      )}
      {edge.valid_to && (
        <span>
          until <Time at={edge.valid_to} />
        </span>
      )}
    </span>
  );
}
