// The relations of an entity with what is known of each; to end, withdraw, revive and state.
import { useState } from 'preact/hooks';
import { isReadOnly } from '../api';
import { useChange } from '../changes';
import { useCall } from '../load';
import { Button, ConfirmButton } from '../parts/button';
import { Choice, TextField } from '../parts/field';
import { EntityLink, MemoryLink } from '../parts/memory';
import { List, type Primary } from '../parts/list';
import { Share } from '../parts/relevance';
import { Nothing, WhenLoaded } from '../parts/status';
import { beginning, PlainText, shownText, Time } from '../parts/text';
import type { Entity, Related, RelationView } from '../types';

const PAGE = 30;
const STATES = { now: [], ended: ['superseded'], any: ['active', 'superseded'], withdrawn: ['archived'] } as const;

export function EntityRelations({ of }: { of: Entity }) {
  const [state, setState] = useState<keyof typeof STATES>('now');
  const [most, setMost] = useState(PAGE);
  const [stating, setStating] = useState(false);
  const relations = useCall<RelationView[]>('relations', { entity: of.id, states: [...STATES[state]], limit: most + 1 }, { keep: true });
  return (
    <>
      <div class="filters">
        <Choice
          label="Which relations"
          value={state}
          options={[
            ['now', 'True now'],
            ['any', 'True now or earlier'],
            ['ended', 'No longer true'],
            ['withdrawn', 'Withdrawn, or an earlier version'],
          ]}
          onChange={setState}
        />
      </div>
      {!isReadOnly() && (
        <div class="actions">
          <Button pressed={stating} onClick={() => setStating(!stating)}>
            State a relation
          </Button>
        </div>
      )}
      {stating && <RelationForm of={of} onDone={() => setStating(false)} />}
      <WhenLoaded of={relations}>
        {(rows) =>
          rows.length ? (
            <>
              <List label="Relations" rows={rows.slice(0, most)} id={(row) => row.id}>
                {(row, primary) => <RelationRow of={row} entity={of} primary={primary} />}
              </List>
              {rows.length > most && (
                <div class="actions">
                  <span class="quiet">{`The newest ${most} are shown.`}</span>
                  <Button onClick={() => setMost(most + PAGE)}>Show more</Button>
                </div>
              )}
            </>
          ) : (
            <Nothing>No such relation.</Nothing>
          )
        }
      </WhenLoaded>
    </>
  );
}

const VERDICTS = { accepted: 'accepted', rejected: 'rejected', deferred: 'undecided' } as const;

function RelationRow({ of, entity, primary }: { of: RelationView; entity: Entity; primary: Primary }) {
  const outward = of.subject === entity.name;
  const other = outward ? of.object : of.subject;
  const end = (name: string) => (name === other ? <EntityLink name={name} primary={primary} /> : <PlainText>{beginning(name, 120)}</PlainText>);
  return (
    <>
      <p>
        {end(of.subject)} <PlainText>{beginning(of.type.replaceAll('_', ' '), 80)}</PlainText> {end(of.object)}
      </p>
      {of.quote && (
        <p class="quiet">
          <PlainText>{`“${beginning(of.quote, 300)}”`}</PlainText>
        </p>
      )}
      <p class="marks">
        <Share value={of.probability ?? of.confidence} label={of.probability === null ? 'confidence' : 'probability'} />
        <span>{of.verdict ? `${VERDICTS[of.verdict]} by ${of.verifier ?? 'nobody'}` : 'not verified'}</span>
        <span class="mark">{of.layer}</span>
        {of.state !== 'active' && <span class={`mark state-${of.state}`}>{of.state}</span>}
        <span>{of.origin}</span>
        {of.valid_from && (
          <span>
            from <Time at={of.valid_from} />
          </span>
        )}
        {of.valid_to && (
          <span>
            until <Time at={of.valid_to} />
          </span>
        )}
        {of.evidence.slice(0, 3).map((id) => (
          <span key={id}>
            stated in <MemoryLink id={id} />
          </span>
        ))}
        {of.evidence.length > 3 && <span>{`and ${of.evidence.length - 3} more`}</span>}
      </p>
      {!isReadOnly() && <RelationActions of={of} />}
    </>
  );
}

function RelationActions({ of }: { of: RelationView }) {
  const change = useChange();
  const [ending, setEnding] = useState(false);
  const [ended, setEnded] = useState('');
  const words = beginning(shownText(`${of.subject} ${of.type.replaceAll('_', ' ')} ${of.object}`), 80);
  const which = { subject: of.subject, type: of.type, object: of.object, valid_from: of.valid_from };
  const end = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (await change('unrelate', { ...which, ended }, `Ended: ${words}.`)) setEnding(false);
  };
  if (of.state === 'archived') {
    return (
      <div class="actions">
        <ConfirmButton ask={`Revive “${words}”?`} yes="Revive" label={`Revive ${words}`} onConfirm={() => void change('revive', { ids: [of.id] }, `Revived: ${words}.`)}>
          Revive
        </ConfirmButton>
      </div>
    );
  }
  return (
    <div class="actions">
      <Button label={`End ${words}`} pressed={ending} onClick={() => setEnding(!ending)}>
        End
      </Button>
      <ConfirmButton
        look="danger"
        label={`Withdraw ${words}`}
        ask={`Withdraw “${words}” as never true?`}
        yes="Withdraw"
        onConfirm={() => void change('unrelate', which, `Withdrawn: ${words}.`)}
      >
        Withdraw
      </ConfirmButton>
      {ending && (
        <form class="confirm" onSubmit={(event) => void end(event)}>
          <TextField label="True until" type="date" value={ended} onInput={setEnded} required />
          <button type="submit" class="primary" disabled={!ended}>
            Save the end
          </button>
        </form>
      )}
    </div>
  );
}

function RelationForm({ of, onDone }: { of: Entity; onDone: () => void }) {
  const change = useChange();
  const [outward, setOutward] = useState<'yes' | 'no'>('yes');
  const [type, setType] = useState('');
  const [other, setOther] = useState('');
  const [from, setFrom] = useState('');
  const [reason, setReason] = useState('');
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    const [subject, object] = outward === 'yes' ? [of.name, other] : [other, of.name];
    const done = (result: Related): string =>
      result.stored ? `${result.created ? 'Stated' : 'Known already'}: ${subject} ${type} ${object}. ${result.notes.join(' ')}` : `Rejected: ${result.explanation}`;
    const args = { subject, type, object, valid_from: from || undefined, reason: reason || undefined };
    if (await change<Related>('relate', args, done)) onDone();
  };
  return (
    <form class="panel" aria-label="State a relation" onSubmit={(event) => void save(event)}>
      <h3>State a relation</h3>
      <div class="filters">
        <Choice
          label="Direction"
          value={outward}
          options={[
            ['yes', 'From this entity'],
            ['no', 'To this entity'],
          ]}
          onChange={setOutward}
        />
        <TextField label="Relation, such as works for" value={type} onInput={setType} required />
        <TextField label="Other entity" value={other} onInput={setOther} required help="A new one where none has this name." />
        <TextField label="True from" type="date" value={from} onInput={setFrom} />
        <TextField label="Why (kept in the history)" value={reason} onInput={setReason} />
      </div>
      <div class="actions">
        <button type="submit" class="primary" disabled={!type.trim() || !other.trim()}>
          Save
        </button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}
