// The memories and passages that mention an entity; some of them can be given to another entity.
import { useState } from 'preact/hooks';
import { isReadOnly } from '../api';
import { useCall } from '../load';
import { Button } from '../parts/button';
import { List } from '../parts/list';
import { MemoryCard } from '../parts/memory';
import { Nothing, WhenLoaded } from '../parts/status';
import { beginning } from '../parts/text';
import type { Chunk, Entity } from '../types';
import { SplitForm } from './entity_split';

const PAGE = 20;
const KINDS = ['passage', 'note', 'fact', 'event', 'turn'];

export function EntityMemories({ of }: { of: Entity }) {
  const [most, setMost] = useState(PAGE);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const memories = useCall<Chunk[]>('memories', { entity: of.id, kinds: KINDS, limit: most + 1 }, { keep: true });
  const select = (id: string, chosen: boolean): void => {
    const next = new Set(selected);
    if (chosen) next.add(id);
    else next.delete(id);
    setSelected(next);
  };
  return (
    <WhenLoaded of={memories}>
      {(rows) =>
        rows.length ? (
          <>
            <List
              label="Memories that mention it"
              rows={rows.slice(0, most)}
              id={(row) => row.id}
              name={(row) => beginning(row.text, 60)}
              {...(isReadOnly() ? {} : { selected, onSelect: select })}
            >
              {(row, primary) => <MemoryCard of={row} primary={primary} />}
            </List>
            {rows.length > most && (
              <div class="actions">
                <span class="quiet">{`The newest ${most} are shown.`}</span>
                <Button onClick={() => setMost(most + PAGE)}>Show more</Button>
              </div>
            )}
            {selected.size > 0 && <SplitForm of={of} chunks={[...selected]} onDone={() => setSelected(new Set())} />}
          </>
        ) : (
          <Nothing>No memory that is believed now mentions it.</Nothing>
        )
      }
    </WhenLoaded>
  );
}
