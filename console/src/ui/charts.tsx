/** Small SVG charts. Each describes itself in words. */
import { count } from './basics.tsx';
import { Time, timeToMinute } from './time.tsx';

interface Series {
  readonly name: string;
  readonly tone: 'good' | 'bad' | 'busy' | 'idle' | 'warn';
  readonly values: readonly (number | undefined)[];
}

interface BarsProps {
  readonly title: string;
  readonly names: readonly string[];
  /** The stacked parts of each bar, lowest first. */
  readonly series: readonly Series[];
  /** The length of time of a bar, in words. */
  readonly per?: string;
  /** The summary in words, if the sums of the series mean nothing. */
  readonly summary?: string;
}

/** Units of the drawing, which is scaled to its space. */
const width = 720;
const height = 150;

/** The smallest number that is not below a value and has the form 1, 2 or 5 times a power of ten. */
function niceAbove(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((nice) => nice >= value) ?? value;
}

export function Bars({ title, names, series, per = '', summary = '' }: BarsProps) {
  const totals = names.map((_, place) => series.reduce((sum, { values }) => sum + (values[place] ?? 0), 0));
  const top = niceAbove(Math.max(0, ...totals));
  const step = width / names.length;
  const bar = Math.max(1, step - Math.min(4, step / 4));
  const sums = series.map(
    ({ name, values }) => `${count(values.reduce<number>((sum, one = 0) => sum + one, 0))} ${name}`,
  );
  return (
    <figure class="chart">
      <div class="chart-top row spread">
        <span>{title}</span>
        <span>
          full height: {count(top)} {per}
        </span>
      </div>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${summary || sums.join(', ')}`}
      >
        {names.map((name, place) => {
          let from = height;
          const told = series.map((one) => `${count(one.values[place])} ${one.name}`).join(', ');
          return (
            <g key={name}>
              <title>{`${name}: ${told}`}</title>
              <rect class="back" x={place * step} y={0} width={step} height={height} />
              {series.map(({ name: of, tone, values }) => {
                const value = values[place] ?? 0;
                if (value === 0) return null;
                // A tiny value is still visible.
                const tall = Math.max(2, (value / top) * height);
                from -= tall;
                return <rect key={of} class={tone} x={place * step} y={from} width={bar} height={tall} />;
              })}
            </g>
          );
        })}
      </svg>
      <figcaption class="row spread">
        <span>{names[0]}</span>
        <span class="legend row">
          {series.map(({ name, tone }) => (
            <span key={name} class={`key ${tone}`}>
              {name}
            </span>
          ))}
        </span>
        <span>{names.at(-1)}</span>
      </figcaption>
    </figure>
  );
}

interface AttemptsProps extends Pick<BarsProps, 'title' | 'per'> {
  readonly steps: readonly {
    readonly from: number;
    readonly attempts?: number | undefined;
    readonly failures?: number | undefined;
  }[];
  /** The first attempt that is counted, in Unix milliseconds, if some are not. */
  readonly lookedFrom: number | undefined;
}

export const Attempts = ({ steps, lookedFrom, ...bars }: AttemptsProps) => (
  <>
    <Bars
      {...bars}
      names={steps.map(({ from }) => timeToMinute(from))}
      series={[
        {
          name: 'succeeded',
          tone: 'good',
          values: steps.map(({ attempts, failures = 0 }) => attempts && attempts - failures),
        },
        { name: 'failed', tone: 'bad', values: steps.map(({ failures }) => failures) },
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
  /** Whether the colour does not change near the limit, because reaching it is no problem. */
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
