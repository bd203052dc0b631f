// Statistics: what is stored, its size and health, its jobs, and what calls took, as plots.
import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { CallError, isReadOnly, offers, startJob, type Progress } from '../../api';
import { exported } from '../../exported';
import { useCall } from '../../load';
import { Button } from '../../parts/button';
import { Choice } from '../../parts/field';
import { Nothing, WhenLoaded } from '../../parts/status';
import { count, PlainText, Time } from '../../parts/text';
import type { Job, Stats as Stored } from '../../types';
import type { Diagnosis, Telemetry } from '../../tend/types';
import { TelemetryPlots } from './stats_plots';

const DAYS = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;
const MOST_JOBS = 50;

export default function Stats() {
  const [days, setDays] = useState<(typeof DAYS)[number][0]>('7');
  const stats = useCall<Stored & { telemetry?: Telemetry | null }>('stats', exported ? {} : { days: Number(days) });
  return (
    <>
      <h1>Statistics</h1>
      <WhenLoaded of={stats}>
        {(value) => (
          <>
            <Counts of={value} />
            <Disk of={value} />
          </>
        )}
      </WhenLoaded>
      {!isReadOnly() && <Health />}
      {!exported && <Jobs />}
      <section aria-labelledby="use">
        <h2 id="use">Use</h2>
        {!exported && <Choice label="Days" value={days} options={DAYS} onChange={setDays} />}
        <WhenLoaded of={stats}>{(value) => <TelemetryPlots of={value.telemetry ?? null} days={Number(days)} />}</WhenLoaded>
      </section>
    </>
  );
}

function Counts({ of }: { of: Stored }) {
  return (
    <section aria-labelledby="counts">
      <h2 id="counts">What is stored</h2>
      <div class="scrolls" tabIndex={0} role="region" aria-label="Rows of each project">
        <table>
          <thead>
            <tr>
              <th scope="col">Project</th>
              <th scope="col">Memories</th>
              <th scope="col">Documents</th>
              <th scope="col">Passages and memories</th>
              <th scope="col">Entities</th>
              <th scope="col">Relations</th>
            </tr>
          </thead>
          <tbody>
            {of.projects.map((row) => (
              <tr key={row.name}>
                <th scope="row">
                  <PlainText>{row.name}</PlainText>
                </th>
                {[row.memories, row.documents, row.chunks, row.entities, row.relations].map((number, index) => (
                  <td key={index}>{number.toLocaleString('en-GB')}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** A size in words; below a tenth of a megabyte in kilobytes. */
function size(bytes: number): string {
  if (bytes < 1000) return count(bytes, 'byte');
  return bytes < 1e5 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function Disk({ of }: { of: Stored }) {
  return (
    <section aria-labelledby="disk">
      <h2 id="disk">Disk and limits</h2>
      <dl class="facts">
        {Object.entries(of.disk_bytes).map(([name, bytes]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{size(bytes)}</dd>
          </Fragment>
        ))}
        <dt>Engine</dt>
        <dd>{of.engine}</dd>
        <dt>Embedder</dt>
        <dd>
          <PlainText>{of.embedder}</PlainText>
        </dd>
        {of.limits.map((limit) => (
          <Fragment key={`${limit.limit} ${limit.project}`}>
            <dt>{limit.limit}</dt>
            <dd class={limit.over ? 'warning' : undefined}>
              {limit.used.toLocaleString('en-GB')} of {limit.allowed.toLocaleString('en-GB')}
              {limit.over && ': over the limit'}
            </dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}

/** Checks on demand whether graph and vectors agree: it reads every row. */
function Health() {
  const [found, setFound] = useState<Diagnosis | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const [running, setRunning] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const check = async (): Promise<void> => {
    setRunning(true);
    setFailed(null);
    try {
      setFound((await startJob<Diagnosis>('doctor', {}, setProgress)).result);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      setFailed(error.message);
    } finally {
      setRunning(false);
      setProgress(null);
    }
  };
  return (
    <section aria-labelledby="health">
      <h2 id="health">Health</h2>
      <div class="actions">
        <Button disabled={running} onClick={() => void check()}>
          {running ? 'Checking…' : 'Check the store'}
        </Button>
        {progress && <span>{progress.done} of {progress.total}</span>}
      </div>
      <div role="status">
        {failed !== null && <p class="warning" dir="auto">{failed}</p>}
        {found && (
          <>
            <p>
              <strong>{found.healthy ? 'The store is healthy.' : 'The store needs repair: run hydramem doctor --fix.'}</strong>{' '}
              {count(found.chunks_in_graph, 'text')} and {count(found.entities_in_graph, 'entity', 'entities')} were compared.
            </p>
            <ul>
              {[...found.problems, ...found.warnings].map((words) => (
                <li key={words}>
                  <PlainText>{words}</PlainText>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </section>
  );
}

function Jobs() {
  const jobs = useCall<Job[]>('jobs', offers('jobs') ? { limit: MOST_JOBS } : null);
  return (
    <section aria-labelledby="jobs">
      <h2 id="jobs">Jobs</h2>
      <WhenLoaded of={jobs}>
        {(rows) =>
          rows.length ? (
            <ul class="list" aria-label="Jobs">
              {rows.map((job) => (
                <li key={job.id}>
                  <div class="row">
                    <strong>{job.kind}</strong> <span class="mark">{job.state}</span>
                    <p class="marks">
                      <Time at={job.created_at} />
                      {job.attempts > 0 && <span>{count(job.attempts, 'attempt')}</span>}
                      {job.error && <PlainText>{job.error}</PlainText>}
                    </p>
                  </div>
                </li>
              ))}
            </ul>
          ) : (
            <Nothing>No job waits.</Nothing>
          )
        }
      </WhenLoaded>
    </section>
  );
}
