// A memory in a list, and links to memories and entities.
import { link } from '../place';
import type { Chunk, Hit, Layer, State } from '../types';
import type { Primary } from './list';
import { beginning, PlainText, Time } from './text';

/** What a card shows, which chunks and hits have. */
export type Shown = Pick<Chunk, 'id' | 'text' | 'kind' | 'source' | 'author' | 'happened_at'> & {
  layer: Layer;
  state?: State;
  scope?: string;
  private?: boolean;
  times?: Chunk['times'];
};

/** A memory in brief: the beginning of its text is the link to all of it. */
export function MemoryCard({ of, primary }: { of: Shown | Hit; primary?: Primary }) {
  return (
    <>
      <a class="card-text" href={link('/memory/:id', { id: of.id })} {...primary}>
        <PlainText>{beginning(of.text, 300)}</PlainText>
      </a>
      <Marks of={of} />
    </>
  );
}

/** What is to be known of a memory beside its text. */
export function Marks({ of }: { of: Shown }) {
  const { state, scope } = of;
  return (
    <p class="marks">
      <span class="mark">{of.kind}</span>
      {state && state !== 'active' && <span class={`mark state-${state}`}>{state}</span>}
      {of.layer !== 'working' && <span class="mark">{of.layer}</span>}
      {of.private && <span class="mark">private</span>}
      {scope && scope !== '/' && <PlainText>{scope}</PlainText>}
      {(of.happened_at ?? of.times?.recorded_at) && <Time at={of.happened_at ?? of.times!.recorded_at} />}
      {of.author && <PlainText>{`by ${of.author}`}</PlainText>}
      {of.source && of.source !== of.kind && <PlainText>{beginning(of.source, 80)}</PlainText>}
    </p>
  );
}

/** A link to the graph around an entity, by its name or id. */
export function EntityLink({ name, id = name, primary }: { name: string; id?: string; primary?: Primary }) {
  return (
    <a href={link('/entity/:id', { id })} {...primary}>
      <PlainText>{beginning(name, 120)}</PlainText>
    </a>
  );
}

/** A link to a memory, by the beginning of its text. */
export function MemoryLink({ id, text, primary }: { id: string; text?: string; primary?: Primary }) {
  return (
    <a href={link('/memory/:id', { id })} {...primary}>
      <PlainText>{text ? beginning(text, 160) : id.slice(0, 8)}</PlainText>
    </a>
  );
}
