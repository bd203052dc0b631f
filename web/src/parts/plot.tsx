// A plot over days, with the same numbers as a table for who cannot see it.
import uPlot from 'uplot';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isDark } from '../theme';

export interface Series {
  name: string;
  /** A value for each day; null where nothing was measured. */
  values: (number | null)[];
}

export interface PlotProps {
  title: string;
  /** Such as `2026-11-23`, oldest first, without gaps. */
  days: readonly string[];
  series: readonly Series[];
  /** Such as `ms`; after each number. */
  unit?: string;
  digits?: number;
  /** The ends of the scale; by the values where they are absent. */
  range?: [number, number];
}

const HEIGHT = 220;
const STROKES = [[], [6, 4], [2, 3], [10, 3, 2, 3]]; // lines differ by more than colour
const COLOURS = ['--accent', '--good', '--danger', '--warning'];

export function Plot({ title, days, series, unit = '', digits = 0, range }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const dark = isDark.value;
  const shown = (value: number | null | undefined): string =>
    value === null || value === undefined ? 'none' : `${value.toLocaleString('en-GB', { maximumFractionDigits: digits })}${unit && ` ${unit}`}`;
  const data = JSON.stringify([days, series]);
  useLayoutEffect(() => {
    const within = place.current!;
    const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const lines = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line') } };
    const plot = new uPlot(
      {
        width: Math.max(200, within.clientWidth),
        height: HEIGHT,
        legend: { live: false },
        cursor: { show: false },
        scales: { y: { range: range ?? ((_, low, high) => [Math.min(0, low ?? 0), Math.max(1, high ?? 1) * 1.05]) } },
        axes: [
          { ...lines, values: (_, ticks) => ticks.map((at) => new Date(at * 1000).toISOString().slice(5, 10)) },
          { ...lines, size: 64, values: (_, ticks) => ticks.map((at) => at.toLocaleString('en-GB')) },
        ],
        series: [
          {},
          ...series.map((one, index) => ({
            label: one.name,
            stroke: colour(COLOURS[index % COLOURS.length]!),
            dash: STROKES[Math.floor(index / COLOURS.length + index) % STROKES.length]!,
            width: 2,
            points: { show: true, size: 6 },
          })),
        ],
      },
      [days.map((day) => Date.parse(`${day}T00:00:00Z`) / 1000), ...series.map((one) => one.values)],
      within,
    );
    const fit = new ResizeObserver(() => plot.setSize({ width: Math.max(200, within.clientWidth), height: HEIGHT }));
    fit.observe(within);
    return () => {
      fit.disconnect();
      plot.destroy();
    };
  }, [data, dark]);
  const measured = days.map((day, index) => ({ day, values: series.map((one) => one.values[index]) })).filter((row) => row.values.some((value) => value !== null && value !== undefined));
  return (
    <figure class="plot">
      <figcaption>
        <h3>{title}</h3>
      </figcaption>
      <div ref={place} aria-hidden="true" />
      <details>
        <summary>{title} as a table</summary>
        <div class="scrolls" tabIndex={0} role="region" aria-label={`${title}, table`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Day</th>
                {series.map((one) => (
                  <th key={one.name} scope="col">
                    {one.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {measured.map((row) => (
                <tr key={row.day}>
                  <th scope="row">{row.day}</th>
                  {row.values.map((value, index) => (
                    <td key={index}>{shown(value)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
