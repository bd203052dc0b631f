// The gardener: a plan as a diff, applied in whole or in part; the last nights, each with its undo.
import { signal } from '@preact/signals';
import { CallError, isReadOnly, project, startJob, type Arguments, type Progress } from '../../api';
import { notify, useChange, version } from '../../changes';
import { useCall } from '../../load';
import { Button, ConfirmButton } from '../../parts/button';
import { Plot, type Series } from '../../parts/plot';
import { Nothing, WhenLoaded } from '../../parts/status';
import { count, PlainText, Time } from '../../parts/text';
import type { Gardened, NightHealth, StoreHealth } from '../../tend/types';
import { Plan } from './garden_plan';

const NIGHTS = 10;

/** What runs now: the words of its progress and how to stop it. */
interface Running {
  words: string;
  progress: Progress | null;
  stop: () => void;
}

// They stay while another view is shown: a plan can take minutes.
const running = signal<Running | null>(null);
const plan = signal<Gardened | null>(null);
const failed = signal<string | null>(null);

/** Run the gardener as a job; null where it failed, and why is shown. */
async function run(words: string, args: Arguments): Promise<Gardened | null> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  failed.value = null;
  running.value = { words, progress: null, stop };
  try {
    const follow = (progress: Progress): void => {
      running.value = { words, progress, stop };
    };
    const done = await startJob<Gardened[]>('garden', args, follow, { signal: stopping.signal });
    return done.result[0] ?? null;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    failed.value = error.message;
    return null;
  } finally {
    running.value = null;
  }
}

async function makePlan(): Promise<void> {
  plan.value = (await run('Making a plan', { plan: true, keep: true })) ?? plan.value;
}

async function apply(from: Gardened, leaveOut: string[]): Promise<void> {
  const report = await run('Applying the plan', { apply_kept: from.plan, leave_out: leaveOut, project: from.project });
  version.value += 1; // what was made before it failed or was stopped is stored
  if (report === null) return;
  plan.value = null;
  const made = report.phases.reduce((sum, phase) => sum + phase.applied, 0);
  const refused = report.refused.length ? ` ${count(report.refused.length, 'change was', 'changes were')} refused, since rows changed.` : '';
  notify(`The gardener made ${count(made, 'change')}.${refused}`, { run: report.run });
}

export default function Garden() {
  const made = plan.value?.project === project.value ? plan.value : null;
  return (
    <>
      <h1>Garden</h1>
      <p class="quiet">
        The gardener infers, verifies, merges and prunes. A plan shows what it would change, and changes nothing.
      </p>
      {!isReadOnly() && (
        <section aria-labelledby="plan">
          <h2 id="plan">Plan</h2>
          {failed.value !== null && (
            <div class="failure" role="alert">
              <p dir="auto">{failed.value}</p>
            </div>
          )}
          {running.value ? (
            <Runs of={running.value} />
          ) : (
            <Button look={made ? undefined : 'primary'} onClick={() => void makePlan()}>
              {made ? 'Make a new plan' : 'Make a plan'}
            </Button>
          )}
          {made && !running.value && <Plan key={made.plan} of={made} onApply={(leaveOut) => void apply(made, leaveOut)} />}
        </section>
      )}
      <section aria-labelledby="nights">
        <h2 id="nights">Last nights</h2>
        <Nights />
      </section>
    </>
  );
}

function Runs({ of }: { of: Running }) {
  const { progress } = of;
  const share = progress && progress.total > 0 ? progress.done / progress.total : undefined;
  return (
    <div class="actions" role="status">
      <span>
        {of.words}
        {progress ? `: ${progress.what}${progress.total > 1 ? ` ${progress.done} of ${progress.total}` : ''}` : '…'}
      </span>
      <progress aria-label={of.words} value={share} max={1} />
      <Button onClick={of.stop}>Stop</Button>
    </div>
  );
}

function Nights() {
  const nights = useCall<Gardened[]>('garden', { status: true, limit: NIGHTS });
  const change = useChange();
  return (
    <WhenLoaded of={nights}>
      {(rows) =>
        rows.length ? (
          <>
            <Health of={rows[0]!.trend} />
            <ul class="list" aria-label="Nights">
              {rows.map((night) => (
                <li key={night.started_at}>
                  <Night of={night} onUndo={() => void change('undo', { id: night.run }, 'The night is undone.')} />
                </li>
              ))}
            </ul>
          </>
        ) : (
          <Nothing>The gardener has not run here yet.</Nothing>
        )
      }
    </WhenLoaded>
  );
}

/** What waited after each of the last nights; one night makes no line. */
function Health({ of: trend }: { of: readonly NightHealth[] }) {
  const byDay = new Map([...trend].reverse().map((night) => [night.started_at.slice(0, 10), night.health])); // the last of a day
  const days = [...byDay.keys()];
  if (days.length < 2) return null;
  const line = (name: string, of: (health: StoreHealth) => number): Series => ({ name, values: days.map((day) => of(byDay.get(day)!)) });
  const series = [
    line('duplicates', (health) => health.duplicates),
    line('stale pairs', (health) => health.stale_pairs),
    line('split names', (health) => health.split_names),
    line('doubtful relations', (health) => health.doubtful_relations),
  ];
  return <Plot title="Waiting after each night" days={days} series={series} />;
}

function Night({ of: night, onUndo }: { of: Gardened; onUndo: () => void }) {
  const worked = night.phases.filter((phase) => phase.proposals || phase.notes.length || phase.state !== 'completed');
  return (
    <div class="row">
      <p>
        <strong>
          <Time at={night.started_at} />
        </strong>{' '}
        {night.run ? '' : 'nothing was changed'}
      </p>
      <p class="marks">
        <span class="mark">{night.state}</span>
        {night.taken_back && <span class="mark">undone</span>}
        <span>{night.seconds.toFixed(1)} s</span>
      </p>
      {night.notes.map((note) => (
        <p key={note} class="quiet">
          <PlainText>{note}</PlainText>
        </p>
      ))}
      {night.summary.length > 0 && (
        <ul aria-label="What it did">
          {night.summary.map((line) => (
            <li key={line.kind}>
              <strong>{line.kind}</strong> {line.what}
              {line.example && (
                <>
                  : <PlainText>{line.example}</PlainText>
                </>
              )}{' '}
              {line.command !== null && <code>{line.command}</code>}
            </li>
          ))}
        </ul>
      )}
      {worked.length > 0 && (
        <details>
          <summary>{worked.map((phase) => `${phase.phase} ${phase.applied}`).join(', ')}</summary>
          <ul>
            {worked.map((phase) => (
              <li key={phase.phase}>
                <strong>{phase.phase}</strong> {phase.state}: {count(phase.proposals, 'change')} proposed, {phase.applied} made
                {phase.refused > 0 && `, ${phase.refused} refused`}
                {phase.left + phase.dropped > 0 && `, ${phase.left + phase.dropped} left to the next run`}
                {phase.notes.map((note) => (
                  <p key={note} class="quiet">
                    <PlainText>{note}</PlainText>
                  </p>
                ))}
              </li>
            ))}
          </ul>
          {night.changes.length > 0 && (
            <ul class="evidence">
              {night.changes.map((change) => (
                <li key={change.id}>
                  <span class="mark">{change.action}</span> <PlainText>{change.text}</PlainText> <span class="quiet">{change.reason}</span>
                </li>
              ))}
            </ul>
          )}
        </details>
      )}
      {night.run && !night.taken_back && !isReadOnly() && (
        <div class="actions">
          <ConfirmButton ask="Undo everything of this night?" yes="Undo the night" onConfirm={onUndo}>
            Undo this night
          </ConfirmButton>
        </div>
      )}
    </div>
  );
}
