// What a person can do with one memory: correct it, change its layer, forget it, or revive it.
import { useState } from 'preact/hooks';
import { useChange } from '../changes';
import { useKeys } from '../keys';
import { Button, ConfirmButton } from '../parts/button';
import { count } from '../parts/text';
import { go, link, place } from '../place';
import type { Forgotten, LinkedChunk, Remembered } from '../types';
import { CorrectionForm, type Correction } from './memory_correction';
import { PromoteForm } from './memory_promotion';

export function Actions({ of }: { of: LinkedChunk }) {
  const change = useChange();
  const [shown, setShown] = useState<'correct' | 'promote' | null>(null);
  const [asking, setAsking] = useState(false);
  const active = of.state === 'active';
  const correctable = active && of.kind !== 'passage';
  useKeys([
    { key: 'e', words: 'Correct this memory', run: () => setShown(correctable ? 'correct' : shown) },
    { key: 'Delete', words: 'Forget this memory', run: () => setAsking(active) },
  ]);
  const correct = async (correction: Correction): Promise<void> => {
    const before = link('/memory/:id', { id: of.id });
    let after = before;
    const onUndone = (): void => {
      if (`#${place.value}` === after) go(before, { replace: true }); // another view that is shown by then stays
    };
    const done = await change<Remembered>('revise', { id: of.id, ...correction }, 'Corrected.', { onUndone });
    if (!done) return;
    setShown(null);
    after = link('/memory/:id', { id: done.id });
    if (done.id !== of.id) go(after); // another text is another memory
  };
  const promote = async (layer: string, reason: string): Promise<void> => {
    if (await change('promote', { ids: [of.id], layer, reason }, `Moved to the layer ${layer}.`)) setShown(null);
  };
  return (
    <>
      <div class="actions" role="group" aria-label="Actions">
        {correctable && (
          <Button keys="e" pressed={shown === 'correct'} onClick={() => setShown(shown === 'correct' ? null : 'correct')}>
            Correct
          </Button>
        )}
        {active && (
          <Button pressed={shown === 'promote'} onClick={() => setShown(shown === 'promote' ? null : 'promote')}>
            Change layer
          </Button>
        )}
        {active && (
          <ConfirmButton
            look="danger"
            ask="Forget this memory?"
            yes="Forget"
            keys="Delete"
            open={asking}
            onOpen={setAsking}
            onConfirm={() => void change<Forgotten>('forget', { ids: [of.id] }, (done) => `Forgotten, with ${count(done.relations, 'relation')}.`)}
          >
            Forget
          </ConfirmButton>
        )}
        {(of.state === 'archived' || of.state === 'quarantined') && (
          <ConfirmButton ask="Revive this memory? It is recalled from then on." yes="Revive" onConfirm={() => void change('revive', { ids: [of.id] }, 'Revived.')}>
            Revive
          </ConfirmButton>
        )}
      </div>
      {shown === 'correct' && <CorrectionForm of={of} onSave={(correction) => void correct(correction)} onCancel={() => setShown(null)} />}
      {shown === 'promote' && <PromoteForm layer={of.layer} onSave={(layer, reason) => void promote(layer, reason)} onCancel={() => setShown(null)} />}
    </>
  );
}
