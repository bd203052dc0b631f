// What calls took and what they saved, by day.
import { isReadOnly, offers } from '../../api';
import { useChange } from '../../changes';
import { ConfirmButton } from '../../parts/button';
import { Plot, type PlotProps } from '../../parts/plot';
import { Nothing } from '../../parts/status';
import { count } from '../../parts/text';
import { daysOf, isEmpty, latencies, memoryKinds, scorer, tokens } from '../../tend/telemetry_series';
import type { Telemetry } from '../../tend/types';

export function TelemetryPlots({ of, days: asked }: { of: Telemetry | null; days: number }) {
  const change = useChange();
  if (of === null) return <Nothing>No telemetry is shown here.</Nothing>;
  if (of.state.startsWith('off')) {
    return (
      <Nothing>
        Telemetry is {of.state}. With <code>telemetry.enabled: true</code> in config.yml calls are counted, on this machine only.
      </Nothing>
    );
  }
  const days = daysOf(of, asked);
  const saved = of.tokens.reduce((sum, row) => sum + row.saved, 0);
  const calls = of.totals.reduce((sum, row) => sum + row.calls, 0);
  const errors = of.totals.reduce((sum, row) => sum + row.errors, 0);
  const plots: PlotProps[] = [
    { title: 'Latency by day (95th percentile)', days, series: latencies(of, days), unit: 'ms', digits: 1 },
    { title: 'Memories stored by kind', days, series: memoryKinds(of, days) },
    { title: 'Tokens given and saved', days, series: tokens(of, days) },
    { title: "AUC of the gardener's scorer", days, series: scorer(of, days), digits: 3, range: [0, 1] },
  ];
  return (
    <>
      <p>
        {count(calls, 'call')}, {count(errors, 'error')}, {count(saved, 'token')} saved. Counted on this machine, kept in the folder of the
        memory, without a word of what was asked or stored.
      </p>
      {of.dropped > 0 && <p class="quiet">{count(of.dropped, 'call')} could not be counted.</p>}
      {!isReadOnly() && offers('wipe_telemetry') && (
        <ConfirmButton
          look="danger"
          ask="Delete what was counted? This cannot be undone; no memory is touched."
          yes="Delete"
          onConfirm={() => void change('wipe_telemetry', {}, 'What was counted is deleted.')}
        >
          Delete the telemetry
        </ConfirmButton>
      )}
      <div class="plots">
        {plots.map((plot) =>
          isEmpty(plot.series) ? (
            <section key={plot.title} class="plot">
              <h3>{plot.title}</h3>
              <Nothing>Nothing was measured in these days.</Nothing>
            </section>
          ) : (
            <Plot key={plot.title} {...plot} />
          ),
        )}
      </div>
    </>
  );
}
