// Two entities that are one thing: found by name, compared side by side, and merged.
import { useState } from 'preact/hooks';
import { useChange } from '../changes';
import { useCall } from '../load';
import { Button, ConfirmButton } from '../parts/button';
import { TextField } from '../parts/field';
import { Nothing, WhenLoaded } from '../parts/status';
import { beginning, count, PlainText, shownText, Time } from '../parts/text';
import { go, link } from '../place';
import type { Chunk, Entity, Merged, RelationView } from '../types';

const MOST_FOUND = 8;
const MOST_SHOWN = 5;

export function MergeForm({ keep, onDone }: { keep: Entity; onDone: () => void }) {
  const [text, setText] = useState('');
  const [other, setOther] = useState<Entity | null>(null);
  const found = useCall<Entity[]>('entities', text.trim() ? { containing: text.trim(), limit: MOST_FOUND + 1 } : null, { keep: true });
  return (
    <section class="panel" aria-label="Merge with another">
      <h3>Merge with another</h3>
      <TextField label="Find the other entity" type="search" value={text} onInput={setText} />
      {other === null ? (
        <>
          <WhenLoaded of={found}>
            {(rows) => {
              const others = rows.filter((row) => row.id !== keep.id).slice(0, MOST_FOUND);
              return others.length ? (
                <ul class="list" aria-label="Entities found">
                  {others.map((row) => (
                    <li key={row.id}>
                      <button type="button" class="link" onClick={() => setOther(row)}>
                        <PlainText>{beginning(row.name, 120)}</PlainText>
                      </button>
                      <span class="quiet">
                        {beginning(row.type, 40)}, {count(row.mention_count, 'text')}
                      </span>
                    </li>
                  ))}
                </ul>
              ) : (
                <Nothing>No other entity has this in its names.</Nothing>
              );
            }}
          </WhenLoaded>
          <Button onClick={onDone}>Cancel</Button>
        </>
      ) : (
        <Preview one={keep} other={other} onBack={() => setOther(null)} onDone={onDone} />
      )}
    </section>
  );
}

interface PreviewProps {
  one: Entity;
  other: Entity;
  onBack: () => void;
  onDone: () => void;
}

function Preview({ one, other, onBack, onDone }: PreviewProps) {
  const change = useChange();
  const [isSwapped, setSwapped] = useState(false);
  const [reason, setReason] = useState('');
  const [keep, gone] = isSwapped ? [other, one] : [one, other];
  const name = (of: Entity): string => beginning(shownText(of.name), 60);
  const merge = async (): Promise<void> => {
    const words = (done: Merged): string =>
      `Merged ${name(gone)} into ${name(keep)}: ${count(done.mentions, 'mention')}, ${count(done.relations, 'relation')}.`;
    // By name: the page of the one that goes would have nothing to show.
    if (isSwapped) go(link('/entity/:id', { id: keep.id }));
    if (await change<Merged>('merge', { keep: keep.id, others: [gone.id], reason: reason || undefined }, words)) onDone();
    else if (isSwapped) go(link('/entity/:id', { id: gone.id }));
  };
  return (
    <>
      <div class="side-by-side">
        <Side of={keep} title="Stays" />
        <Side of={gone} title="Is merged into it" />
      </div>
      <p>
        <PlainText>{`“${name(gone)}” becomes another name of “${name(keep)}”, which takes its mentions and relations.`}</PlainText>
      </p>
      <TextField label="Why (kept in the history)" value={reason} onInput={setReason} />
      <div class="actions">
        <ConfirmButton look="primary" ask={`Merge into ${name(keep)}?`} yes="Merge" onConfirm={() => void merge()}>
          Merge
        </ConfirmButton>
        <Button onClick={() => setSwapped(!isSwapped)}>Keep the other one</Button>
        <Button onClick={onBack}>Choose another</Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </>
  );
}

/** What is known of one of the two, in brief. */
function Side({ of, title }: { of: Entity; title: string }) {
  const relations = useCall<RelationView[]>('relations', { entity: of.id, limit: MOST_SHOWN });
  const memories = useCall<Chunk[]>('memories', { entity: of.id, kinds: ['passage', 'note', 'fact', 'event', 'turn'], limit: MOST_SHOWN });
  return (
    <section aria-label={title}>
      <h4>{title}</h4>
      <p>
        <PlainText>{beginning(of.name, 120)}</PlainText>
      </p>
      <dl class="facts">
        <dt>Type</dt>
        <dd dir="auto">{beginning(of.type, 60)}</dd>
        <dt>Other names</dt>
        <dd dir="auto">{of.aliases.length ? beginning(shownText(of.aliases.join(', ')), 200) : 'none'}</dd>
        <dt>Mentioned</dt>
        <dd>
          in {count(of.mention_count, 'text')}, last <Time at={of.last_seen} />
        </dd>
      </dl>
      <h5>Newest relations</h5>
      <ul>
        {relations.value?.map((row) => (
          <li key={row.id}>
            <PlainText>{beginning(`${row.subject} ${row.type.replaceAll('_', ' ')} ${row.object}`, 120)}</PlainText>
          </li>
        ))}
      </ul>
      <h5>Newest memories</h5>
      <ul>
        {memories.value?.map((row) => (
          <li key={row.id}>
            <PlainText>{beginning(row.text, 120)}</PlainText>
          </li>
        ))}
      </ul>
    </section>
  );
}
