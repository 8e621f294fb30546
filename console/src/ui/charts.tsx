/**
 * Small SVG charts with axes. Values can be read with a pointer, a finger or the arrow keys; a table has all
 * of them.
 */
import { useState } from 'preact/hooks';
import { count } from './basics.tsx';
import { inMs, Time, timeToMinute } from './time.tsx';

interface Series {
  readonly name: string;
  readonly tone: 'good' | 'bad' | 'busy' | 'idle' | 'warn';
  readonly values: readonly (number | undefined)[];
}

interface ChartProps {
  readonly title: string;
  /** The labels of the moments. */
  readonly names: readonly string[];
  /** Stacked in bars, from the bottom. */
  readonly series: readonly Series[];
  /** The length of a bar in words. */
  readonly per?: string;
  /** A summary in words, if sums of the series mean nothing. */
  readonly summary?: string;
}

interface PlotProps extends ChartProps {
  /** The largest value. */
  readonly most: number;
  readonly show?: (value: number | undefined) => string;
  /** Draws the series. @param top the value at the top */
  readonly draw: (top: number) => preact.ComponentChildren;
}

/** The size of the drawing in its own units. */
const width = 720;
const height = 150;

/** The smallest number of the form 1, 2 or 5 times a power of ten that is not less than a value. */
function niceAbove(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((nice) => nice >= value) ?? value;
}

const steps: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  Home: -Infinity,
  End: Infinity,
};

function Plot({ title, names, series, per = '', summary = '', most, show = count, draw }: PlotProps) {
  const [read, setRead] = useState<number>();
  const top = niceAbove(most);
  const step = width / names.length;
  const last = names.length - 1;
  const valuesAt = (place: number): string =>
    series.map(({ name, values }) => `${show(values[place])} ${name}`).join(', ');
  return (
    <figure class="chart">
      <div class="chart-top row spread">
        <span>{[title, per].join(' ')}</span>
        <output>{read !== undefined && read <= last && `${names[read]}: ${valuesAt(read)}`}</output>
      </div>
      <div class="plot">
        <div class="scale" aria-hidden="true">
          {[top, top / 2, 0].map((value) => (
            <span key={value}>{Number.isInteger(value) ? show(value) : ''}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          tabIndex={0}
          aria-label={`${title}: ${summary}. The arrow keys read its values.`}
          onPointerMove={({ currentTarget, clientX }) => {
            const { left, width: shown } = currentTarget.getBoundingClientRect();
            setRead(Math.max(0, Math.min(last, Math.floor(((clientX - left) / shown) * names.length))));
          }}
          onPointerLeave={() => {
            setRead(undefined);
          }}
          onBlur={() => {
            setRead(undefined);
          }}
          onKeyDown={(event) => {
            const by = steps[event.key];
            if (by === undefined) return;
            event.preventDefault();
            setRead(Math.max(0, Math.min(last, (read ?? (by < 0 ? names.length : -1)) + by)));
          }}
        >
          <path class="grid" d={`M0 1H${width}M0 ${height / 2}H${width}`} />
          {read !== undefined && <rect class="back" x={read * step} width={step} height={height} />}
          {draw(top)}
        </svg>
        <div class="times row spread" aria-hidden="true">
          {[...new Set([0, Math.floor(last / 2), last])].map((place) => (
            <span key={place}>{names[place]}</span>
          ))}
        </div>
      </div>
      <figcaption class="row spread">
        <span class="legend row">
          {series.map(({ name, tone }) => (
            <span key={name} class={`key ${tone}`}>
              {name}
            </span>
          ))}
        </span>
        <details>
          <summary>Table</summary>
          <table>
            <caption>{title}</caption>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
            {names.map((name, place) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {series.map((one) => (
                  <td key={one.name}>{show(one.values[place])}</td>
                ))}
              </tr>
            ))}
          </table>
        </details>
      </figcaption>
    </figure>
  );
}

export function Bars({ summary = '', ...chart }: ChartProps) {
  const { names, series } = chart;
  const totals = names.map((_, place) => series.reduce((sum, { values }) => sum + (values[place] ?? 0), 0));
  const step = width / names.length;
  const bar = Math.max(1, step - Math.min(4, step / 4));
  const sums = series.map(
    ({ name, values }) => `${count(values.reduce<number>((sum, one = 0) => sum + one, 0))} ${name}`,
  );
  return (
    <Plot
      {...chart}
      summary={summary || sums.join(', ')}
      most={Math.max(0, ...totals)}
      draw={(top) =>
        names.map((name, place) => {
          let from = height;
          return series.map(({ name: of, tone, values }) => {
            const value = values[place] ?? 0;
            if (value === 0) return null;
            // Tall enough to be visible.
            const tall = Math.max(2, (value / top) * height);
            from -= tall;
            const key = `${name} ${of}`;
            return <rect key={key} class={tone} x={place * step} y={from} width={bar} height={tall} />;
          });
        })
      }
    />
  );
}

interface LatencyProps {
  readonly steps: readonly {
    readonly from: number;
    readonly p50?: number | undefined;
    readonly p99?: number | undefined;
  }[];
}

/** Answer times. If a step has no answers, there is a gap. */
export function Latency({ steps: shown }: LatencyProps) {
  const series = [
    { name: 'p50', tone: 'good', values: shown.map(({ p50 }) => p50) },
    { name: 'p99', tone: 'warn', values: shown.map(({ p99 }) => p99) },
  ] as const;
  const most = Math.max(0, ...series.flatMap(({ values }) => values.map((value = 0) => value)));
  const step = width / shown.length;
  return (
    <Plot
      title="Answer time"
      names={shown.map(({ from }) => timeToMinute(from))}
      series={series}
      summary={`up to ${inMs(most)}`}
      most={most}
      show={inMs}
      draw={(top) =>
        series.map(({ name, tone, values }) => (
          <path
            key={name}
            class={`line ${tone}`}
            d={values
              .map((value, place) =>
                value === undefined
                  ? ''
                  : `${values[place - 1] === undefined ? 'M' : 'L'}${place * step} ${height - (value / top) * height}h${step}`,
              )
              .join('')}
          />
        ))
      }
    />
  );
}

interface AttemptsProps extends Pick<ChartProps, 'title' | 'per'> {
  readonly steps: readonly {
    readonly from: number;
    readonly attempts?: number | undefined;
    readonly failures?: number | undefined;
  }[];
  /** The first attempt that is included, if some are not. */
  readonly lookedFrom: number | undefined;
}

export const Attempts = ({ steps: shown, lookedFrom, ...bars }: AttemptsProps) => (
  <>
    <Bars
      {...bars}
      names={shown.map(({ from }) => timeToMinute(from))}
      series={[
        {
          name: 'succeeded',
          tone: 'good',
          values: shown.map(({ attempts, failures = 0 }) => attempts && attempts - failures),
        },
        { name: 'failed', tone: 'bad', values: shown.map(({ failures }) => failures) },
      ]}
    />
    {lookedFrom !== undefined && (
      <p class="hint">
        There were many records: attempts before <Time at={lookedFrom} isExact /> are not counted.
      </p>
    )}
  </>
);

interface MeterProps {
  readonly label: string;
  /** Undefined until it is known. */
  readonly value: number | undefined;
  /** 0 or undefined if there is no limit. */
  readonly most?: number | undefined;
  readonly show?: (value: number) => string;
  /** Whether the colour stays the same near the limit, because reaching it is no problem. */
  readonly isFullFine?: boolean;
  readonly note?: string;
}

export function Meter({ label, value, most, show = count, isFullFine = false, note }: MeterProps) {
  const isLimited = most !== undefined && most > 0;
  const part = isLimited && value !== undefined ? Math.min(1, value / most) : 0;
  return (
    <div class="meter">
      <div class="meter-head">
        <span>{label}</span>
        <span>
          <strong>{value === undefined ? '–' : show(value)}</strong>
          {isLimited && <span class="hint"> of {show(most)}</span>}
        </span>
      </div>
      {isLimited && value !== undefined && (
        <svg
          viewBox="0 0 100 4"
          preserveAspectRatio="none"
          role="meter"
          aria-label={label}
          aria-valuemin={0}
          aria-valuemax={most}
          aria-valuenow={Math.min(value, most)}
        >
          <rect class="back" width="100" height="4" rx="1" />
          <rect
            class={isFullFine || part < 0.8 ? 'busy' : part < 1 ? 'warn' : 'bad'}
            width={part * 100}
            height="4"
            rx="1"
          />
        </svg>
      )}
      {note !== undefined && <span class="hint">{note}</span>}
    </div>
  );
}
