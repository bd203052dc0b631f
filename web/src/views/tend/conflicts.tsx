// Conflicts: two sides beside each other, and which of them holds.
import { useRef } from 'preact/hooks';
import { isReadOnly } from '../../api';
import { useChange } from '../../changes';
import { useFocusAfter } from '../../tend/focus';
import { useCall } from '../../load';
import { Button } from '../../parts/button';
import { List } from '../../parts/list';
import { MemoryLink } from '../../parts/memory';
import { Share } from '../../parts/relevance';
import { Nothing, WhenLoaded } from '../../parts/status';
import { beginning, count, PlainText, Time } from '../../parts/text';
import type { Conflict, Conflicts as Found, ConflictSide, Reviewed } from '../../types';

const MOST = 50;

type Settle = (one: Conflict, choice: string, words: string) => void;

export default function Conflicts() {
  const found = useCall<Found>('conflicts', { limit: MOST });
  const place = useRef<HTMLDivElement>(null);
  const focusNext = useFocusAfter(place, found.value, '[data-primary][tabindex="0"], [data-nothing]');
  const change = useChange();
  const settle: Settle = (one, choice, words) => {
    focusNext();
    void change<Reviewed>('review', { answers: [{ id: one.id, choice }], limit: 1 }, (done) =>
      done.answered ? words : `Not taken: ${done.not_taken[0]?.why ?? 'it is settled already'}`,
    );
  };
  return (
    <>
      <h1>Conflicts</h1>
      <p class="quiet">
        What cannot both be true. Say which side holds: the other one is ended or withdrawn, and stays in the history.
        {!isReadOnly() && ' Keys on a conflict: 1, 2, b (both), n (neither).'}
      </p>
      <div ref={place}>
        <WhenLoaded of={found}>{(value) => <Rows of={value} settle={settle} />}</WhenLoaded>
      </div>
    </>
  );
}

function Rows({ of, settle }: { of: Found; settle: Settle }) {
  const onKey = (key: string, one: Conflict): boolean => {
    const choice = { 1: '1', 2: '2', b: 'both', n: 'neither' }[key];
    if (!choice || isReadOnly()) return false;
    const side = choice === '1' ? one.older : choice === '2' ? one.newer : null;
    settle(one, side?.id ?? choice, side ? holds(side) : choice === 'both' ? 'Both hold.' : 'Neither holds.');
    return true;
  };
  return (
    <>
      {of.conflicts.length ? (
        <>
          <p>{of.conflicts.length >= MOST ? `The first ${MOST}, most certain first.` : count(of.conflicts.length, 'conflict')}</p>
          <List label="Conflicts" rows={of.conflicts} id={(one) => one.id} onKey={onKey}>
            {(one, primary) => (
              <div role="group" aria-label={`Conflict: ${beginning(one.older.text)} or ${beginning(one.newer.text)}`} class="conflict" {...primary}>
                <One of={one} settle={settle} />
              </div>
            )}
          </List>
        </>
      ) : (
        <div tabIndex={-1} data-nothing>
          <Nothing>No conflicts were found in {count(of.chunks, 'text')}.</Nothing>
        </div>
      )}
      <ul class="quiet">
        {of.notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </>
  );
}

const holds = (side: ConflictSide): string => `This holds: ${beginning(side.text)}`;

function One({ of: one, settle }: { of: Conflict; settle: Settle }) {
  return (
    <>
      <p class="marks">
        {one.entity && <PlainText>{beginning(one.entity, 80)}</PlainText>}
        <span class="mark">{one.kind}</span>
        <Share value={one.score} label="certain" />
        <PlainText>{one.explanation}</PlainText>
        <span>found by {one.judged_by}</span>
      </p>
      <div class="sides">
        <Side of={one.older} title="1: said first" onHolds={() => settle(one, one.older.id, holds(one.older))} />
        <Side of={one.newer} title="2: said later" onHolds={() => settle(one, one.newer.id, holds(one.newer))} />
      </div>
      {!isReadOnly() && (
        <div class="actions">
          <Button onClick={() => settle(one, 'both', 'Both hold.')}>Both hold</Button>
          <Button look="danger" onClick={() => settle(one, 'neither', 'Neither holds.')}>
            Neither holds
          </Button>
        </div>
      )}
    </>
  );
}

function Side({ of: side, title, onHolds }: { of: ConflictSide; title: string; onHolds: () => void }) {
  return (
    <section class="side" aria-label={title}>
      <h2>{title}</h2>
      <p>
        <PlainText>{side.text}</PlainText>
      </p>
      {side.quote && side.quote !== side.text && (
        <blockquote>
          <PlainText>{side.quote}</PlainText>
        </blockquote>
      )}
      <dl class="facts">
        <dt>Said</dt>
        <dd>
          <Time at={side.said_at} />
        </dd>
        {(side.valid_from || side.valid_to) && (
          <>
            <dt>Holds</dt>
            <dd>
              {side.valid_from ? <Time at={side.valid_from} /> : 'always'} to {side.valid_to ? <Time at={side.valid_to} /> : 'now'}
            </dd>
          </>
        )}
        <dt>Source</dt>
        <dd>{side.source ? <PlainText>{beginning(side.source, 200)}</PlainText> : <span class="quiet">none</span>}</dd>
        <dt>Evidence</dt>
        <dd>
          {side.evidence.length ? (
            <ul>
              {side.evidence.slice(0, 5).map((id, index) => (
                <li key={id}>
                  <MemoryLink id={id} text={`Text ${index + 1}`} />
                </li>
              ))}
            </ul>
          ) : (
            <span class="quiet">none</span>
          )}
        </dd>
      </dl>
      {!isReadOnly() && (
        <Button look="primary" onClick={onHolds} label={`This one holds: ${beginning(side.text)}`}>
          This one holds
        </Button>
      )}
    </section>
  );
}
