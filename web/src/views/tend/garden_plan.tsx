// A plan of the gardener as a diff: its changes by phase, of which some can be left out.
import { useState } from 'preact/hooks';
import { Button, ConfirmButton } from '../../parts/button';
import { Share } from '../../parts/relevance';
import { Nothing } from '../../parts/status';
import { count, PlainText } from '../../parts/text';
import type { Gardened, PhaseReport, ProposedChange } from '../../tend/types';

/** What an action does, in words, and whether it reads as something added or something removed. */
const ACTIONS: Readonly<Record<string, readonly [string, '' | 'added' | 'removed']>> = {
  add: ['Added', 'added'],
  link: ['Linked', 'added'],
  judge: ['Judged', ''],
  change: ['Changed', ''],
  merge: ['Merged', 'removed'],
  archive: ['Archived', 'removed'],
  remove: ['Removed', 'removed'],
};

const PHASES: Readonly<Record<string, string>> = {
  distill: 'Facts from sessions',
  infer: 'New relations',
  verify: 'Relations judged',
  supersede: 'Ended by something newer',
  merge: 'Merged',
  reuse: 'Weights from use',
  prune: 'Pruned',
  review: 'Questions for you',
  maintain: 'Upkeep',
};

export function Plan({ of: plan, onApply }: { of: Gardened; onApply: (leaveOut: string[]) => void }) {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const whole = plan.phases.reduce((sum, phase) => sum + phase.left, 0);
  const set = (ids: readonly string[], taken: boolean): void => {
    const next = new Set(left);
    for (const id of ids) taken ? next.delete(id) : next.add(id);
    setLeft(next);
  };
  const chosen = whole - left.size;
  return (
    <>
      {plan.notes.map((note) => (
        <p key={note}>
          <PlainText>{note}</PlainText>
        </p>
      ))}
      <p role="status">
        {whole === 0 ? 'There is nothing to change.' : `${chosen} of ${count(whole, 'change')} chosen.`}
        {whole > plan.changes.length && ` The first ${plan.changes.length} are shown; the others are applied too.`}
      </p>
      {plan.phases.map((phase) => (
        <Phase key={phase.phase} of={phase} changes={plan.changes.filter((one) => one.phase === phase.phase)} left={left} set={set} />
      ))}
      {whole > 0 && (
        <div class="actions">
          <ConfirmButton look="primary" disabled={chosen === 0} ask={`Make ${count(chosen, 'change')}?`} yes="Apply" onConfirm={() => onApply([...left])}>
            Apply {count(chosen, 'change')}
          </ConfirmButton>
        </div>
      )}
    </>
  );
}

interface PhaseProps {
  of: PhaseReport;
  changes: readonly ProposedChange[];
  left: ReadonlySet<string>;
  set: (ids: readonly string[], taken: boolean) => void;
}

function Phase({ of: phase, changes, left, set }: PhaseProps) {
  const title = PHASES[phase.phase] ?? phase.phase;
  if (!changes.length && !phase.notes.length && phase.state === 'completed') return null;
  const ids = changes.map((one) => one.id);
  return (
    <section aria-label={title}>
      <h3>
        {title} <span class="quiet">({changes.length ? count(changes.length, 'change') : 'no changes'})</span>
      </h3>
      {phase.state !== 'completed' && <p class="mark">{phase.state}</p>}
      {phase.notes.map((note) => (
        <p key={note} class="quiet">
          <PlainText>{note}</PlainText>
        </p>
      ))}
      {changes.length > 1 && (
        <div class="actions">
          <Button look="link" label={`Choose all: ${title}`} onClick={() => set(ids, true)}>
            Choose all
          </Button>
          <Button look="link" label={`Leave all out: ${title}`} onClick={() => set(ids, false)}>
            Leave all out
          </Button>
        </div>
      )}
      {changes.length === 0 && phase.state === 'completed' && !phase.notes.length && <Nothing>Nothing.</Nothing>}
      <ul class="diff">
        {changes.map((one) => (
          <li key={one.id} class={left.has(one.id) ? 'left-out' : (ACTIONS[one.action]?.[1] ?? '')}>
            <label>
              <input type="checkbox" checked={!left.has(one.id)} onChange={(event) => set([one.id], event.currentTarget.checked)} />
              <span>
                <strong>{ACTIONS[one.action]?.[0] ?? one.action}: </strong>
                <PlainText>{one.text}</PlainText>
              </span>
            </label>
            <p class="marks">
              <PlainText>{one.reason}</PlainText>
              {one.score !== null && <Share value={one.score} label="certain" />}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
