// One entity: its names, the graph around it, its relations, the memories that mention it, and its history.
import { useState } from 'preact/hooks';
import { isReadOnly } from '../api';
import { GraphExplorer } from '../graph/explorer';
import { useKeys } from '../keys';
import { useCall } from '../load';
import { Button } from '../parts/button';
import { HistoryList } from '../parts/history';
import { Nothing, WhenLoaded } from '../parts/status';
import { beginning, count, PlainText, Time } from '../parts/text';
import { link } from '../place';
import type { Params } from '../routes';
import type { Entity, GraphView, History } from '../types';
import { EntityForm } from './entity_edit';
import { EntityMemories } from './entity_memories';
import { MergeForm } from './entity_merge';
import { EntityRelations } from './entity_relations';
import { MergesOf } from './entity_split';

export default function EntityPage({ params }: { params: Params }) {
  const name = params.id ?? '';
  // A name, an alias or an id: the graph knows all three, and says which entity it is.
  const centre = useCall<GraphView>('graph', { center: name, depth: 1, limit: 1, chunks: false });
  const id = centre.value?.nodes[0]?.id ?? null;
  const found = useCall<Entity[]>('entities', id === null ? null : { containing: id, limit: 1 });
  if (centre.error?.code === 'NotFoundError') return <Unknown name={name} />;
  return (
    <WhenLoaded of={centre}>
      {() => <WhenLoaded of={found}>{(rows) => (rows[0] ? <Shown of={rows[0]} limit={Number(params.limit) || undefined} /> : <Unknown name={name} />)}</WhenLoaded>}
    </WhenLoaded>
  );
}

function Unknown({ name }: { name: string }) {
  return (
    <>
      <h1>Entity</h1>
      <Nothing>
        No entity has the name or id <PlainText>{beginning(name, 200)}</PlainText>. It may have been merged with another.{' '}
        <a href={link('/graph')}>All communities</a>
      </Nothing>
    </>
  );
}

function Shown({ of, limit }: { of: Entity; limit?: number }) {
  const [shown, setShown] = useState<'edit' | 'merge' | null>(null);
  const history = useCall<History>('history', { id: of.id });
  const mayChange = !isReadOnly();
  useKeys([{ key: 'e', words: 'Change names and type', run: () => setShown(mayChange ? 'edit' : null) }]);
  const toggle = (part: 'edit' | 'merge'): void => setShown(shown === part ? null : part);
  return (
    <article>
      <h1>
        <PlainText>{of.name}</PlainText>
      </h1>
      <Facts of={of} />
      {mayChange && (
        <div class="actions" role="group" aria-label="Actions">
          <Button keys="e" pressed={shown === 'edit'} onClick={() => toggle('edit')}>
            Change
          </Button>
          <Button pressed={shown === 'merge'} onClick={() => toggle('merge')}>
            Merge with another
          </Button>
        </div>
      )}
      {shown === 'edit' && <EntityForm of={of} onDone={() => setShown(null)} />}
      {shown === 'merge' && <MergeForm keep={of} onDone={() => setShown(null)} />}
      <h2>Graph</h2>
      <GraphExplorer key={of.id} centre={of.id} limit={limit} />
      <h2>Relations</h2>
      <EntityRelations of={of} />
      <h2>Memories that mention it</h2>
      <EntityMemories of={of} />
      {history.value && mayChange && <MergesOf history={history.value} />}
      <h2>History</h2>
      <WhenLoaded of={history}>{(value) => <HistoryList of={value} />}</WhenLoaded>
    </article>
  );
}

function Facts({ of }: { of: Entity }) {
  return (
    <dl class="facts">
      <dt>Type</dt>
      <dd>
        <PlainText>{of.type}</PlainText>
      </dd>
      {of.aliases.length > 0 && (
        <>
          <dt>Other names</dt>
          <dd>
            <PlainText>{of.aliases.join(', ')}</PlainText>
          </dd>
        </>
      )}
      {of.description && (
        <>
          <dt>Description</dt>
          <dd>
            <PlainText>{of.description}</PlainText>
          </dd>
        </>
      )}
      <dt>Mentioned</dt>
      <dd>
        in {count(of.mention_count, 'text')}, from <Time at={of.first_seen} /> to <Time at={of.last_seen} />
      </dd>
      <dt>Id</dt>
      <dd>
        <code>{of.id}</code>
      </dd>
    </dl>
  );
}
