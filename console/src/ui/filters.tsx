/** Filters of a list, in the query of the screen's address, with the API's names. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { KeptFilters } from '../lists/kept.tsx';
import { go, href, placeOf, type Place } from '../place.ts';
import { Button, Choices, nameOfState, type ChoicesProps } from './basics.tsx';
import { Field } from './fields.tsx';
import { exactTime } from './time.tsx';

export interface FilterField {
  readonly name: string;
  readonly label: string;
  readonly placeholder?: string;
  /** Values with their names; the first is not sent. Without options, the field is a text. */
  readonly options?: readonly (readonly [string, string])[];
  readonly isTime?: boolean;
  /** Whether the filter is always visible. Others are behind a button. */
  readonly isMain?: boolean;
  /** Whether only the exact value matches. Then existing values are suggested. */
  readonly isExact?: boolean;
}

export const destinationFields: readonly FilterField[] = [
  { name: 'label', label: 'Label', isMain: true, isExact: true },
  { name: 'host', label: 'Host', isMain: true, isExact: true },
  { name: 'path', label: 'Path', isExact: true },
  { name: 'url', label: 'URL', isExact: true },
];

export const bodyField: FilterField = { name: 'body', label: 'Body contains', placeholder: '"order":7' };

/** Filters by origin, for all lists of messages. */
export const originFields: readonly FilterField[] = [
  { name: 'topicName', label: 'URL group' },
  { name: 'queueName', label: 'Queue' },
  { name: 'flowControlKey', label: 'Flow-control key' },
  { name: 'scheduleId', label: 'Schedule' },
];

export const periodFields: readonly FilterField[] = [
  { name: 'fromDate', label: 'From', isTime: true },
  { name: 'toDate', label: 'Until', isTime: true },
];

/** A choice between all states and some of them. */
export const stateOptions = (...states: readonly string[]): readonly (readonly [string, string])[] => [
  ['', 'All'],
  ...states.map(
    (state) => [state, nameOfState(state).replace(/^./, (first) => first.toUpperCase())] as const,
  ),
];

interface FilterBarProps {
  readonly place: Place;
  readonly fields: readonly FilterField[];
  readonly values?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Buttons that save the list as a file. */
  readonly file?: ComponentChildren;
}

export function filtersOf({ query }: Place, fields: readonly FilterField[]): URLSearchParams {
  return new URLSearchParams(
    fields.flatMap(({ name }) => query.getAll(name).map((value): [string, string] => [name, value])),
  );
}

export const isFiltered = (place: Place, fields: readonly FilterField[]): boolean =>
  filtersOf(place, fields).size > 0;

/**
 * Sets filters, or removes empty ones. Reads the current address, because a screen may not have drawn the
 * newest filter yet.
 */
function setFilters(changed: Readonly<Record<string, string>>): void {
  const { path, query } = placeOf(location.hash);
  for (const [name, value] of Object.entries(changed)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  go(href(path, query), 'replace');
}

const hourMs = 3_600_000;
const ago = (ms: number) => ({ fromDate: String(Date.now() - ms), toDate: '' });

/** A time today, or some days before or after today, in the user's time zone. */
function at(days: number, hours: number): string {
  const day = new Date();
  day.setDate(day.getDate() + days);
  return String(day.setHours(hours, 0, 0, 0));
}

const periods = [
  { name: '1 h', label: 'The last 1 h', filters: () => ago(hourMs) },
  { name: '24 h', label: 'The last 24 h', filters: () => ago(24 * hourMs) },
  { name: '7 d', label: 'The last 7 d', filters: () => ago(7 * 24 * hourMs) },
  {
    name: 'Night',
    title: 'Yesterday 18:00 to today 8:00',
    filters: () => ({ fromDate: at(-1, 18), toDate: at(0, 8) }),
  },
];

/** Buttons for periods: recent ones, last night, or any other. */
const Presets = ({ onRange }: { readonly onRange: (() => void) | false }) => (
  <div class="presets" role="group" aria-label="Period">
    {periods.map(({ name, label, title, filters }) => (
      <Button
        key={name}
        kind="quiet"
        aria-label={label}
        title={title}
        onClick={() => {
          setFilters(filters());
        }}
      >
        {name}
      </Button>
    ))}
    {onRange && (
      <Button kind="quiet" onClick={onRange}>
        Range…
      </Button>
    )}
  </div>
);

/** Whether filters are hidden at first, so that the list is visible without scrolling. */
const isNarrow = (): boolean => matchMedia('(max-width: 40rem)').matches;

export function FilterBar({ place, fields, values = {}, file }: FilterBarProps) {
  const isSet = ({ name }: FilterField): boolean => place.query.has(name);
  const [isOpen, setOpen] = useState(false);
  const [isRange, setRange] = useState(false);
  const isFolded = isNarrow() && fields.length > 1 && !isOpen;
  const shown = fields.filter(
    (field) =>
      isOpen || (field.isMain === true && !isFolded) || isSet(field) || (isRange && field.isTime === true),
  );
  const hasHiddenTimes = fields.some((field) => field.isTime === true && !shown.includes(field));
  const showRange = (): void => {
    setRange(true);
  };
  return (
    <form
      class="filters"
      role="search"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
      }}
    >
      {shown.map((field) => (
        <Filter key={field.name} field={field} place={place} values={values[field.name] ?? []} />
      ))}
      {!isFolded && fields.some(({ name }) => name === 'fromDate') && (
        <Presets onRange={hasHiddenTimes && showRange} />
      )}
      <div class="filters-end">
        {shown.length < fields.length && (
          <Button
            kind="quiet"
            onClick={() => {
              setOpen(true);
            }}
          >
            {isFolded ? 'Filters' : 'More filters'}
          </Button>
        )}
        {fields.some(isSet) && (
          <Button
            kind="quiet"
            onClick={() => {
              setOpen(false);
              setRange(false);
              setFilters(Object.fromEntries(fields.map(({ name }) => [name, ''])));
            }}
          >
            Clear
          </Button>
        )}
        <KeptFilters place={place} isFiltered={fields.some(isSet)} />
        {file}
      </div>
    </form>
  );
}

/** The list is loaded when the user has not typed for this long (ms). */
const pauseMs = 400;

interface FilterProps {
  readonly field: FilterField;
  readonly place: Place;
  readonly values: readonly string[];
}

function Filter({ field, place, values }: FilterProps) {
  const { name, label, placeholder, options, isTime, isExact } = field;
  const listId = useId();
  const value = place.query.get(name) ?? '';
  const [text, setText] = useState(value);
  // The typed text is kept unless something else changes the filter.
  const known = useRef(value);
  if (value !== known.current) {
    known.current = value;
    setText(value);
  }
  useEffect(() => {
    if (text.trim() === known.current) return undefined;
    const timer = setTimeout(() => {
      known.current = text.trim();
      setFilters({ [name]: known.current });
    }, pauseMs);
    return () => {
      clearTimeout(timer);
    };
  }, [text]);
  const set = (chosen: string): void => {
    setFilters({ [name]: chosen });
  };
  if (options !== undefined) {
    // The address may have a value that cannot be chosen.
    const all = options.some(([one]) => one === value) ? options : [...options, [value, value] as const];
    return <Field label={label} value={value} options={all} onInput={set} />;
  }
  if (isTime === true) {
    return (
      <Field
        label={label}
        type="datetime-local"
        value={value === '' ? '' : localTime(Number(value))}
        onInput={(chosen) => {
          set(chosen === '' ? '' : String(new Date(chosen).getTime()));
        }}
      />
    );
  }
  return (
    <>
      <Field
        label={label}
        type="search"
        value={text}
        onInput={setText}
        placeholder={isExact === true ? 'exactly' : placeholder}
        list={values.length > 0 ? listId : undefined}
      />
      {values.length > 0 && (
        <datalist id={listId}>
          {values.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </>
  );
}

const mostSuggested = 50;

interface Addressed {
  readonly url: string;
  readonly labels?: readonly string[] | undefined;
}

export function valuesIn(rows: readonly Addressed[] = []): Readonly<Record<string, readonly string[]>> {
  const urls = rows.flatMap(({ url }) => (URL.canParse(url) ? new URL(url) : []));
  const first = (values: readonly string[]): readonly string[] =>
    [...new Set(values)].slice(0, mostSuggested);
  return {
    label: first(rows.flatMap(({ labels = [] }) => labels)),
    host: first(urls.map(({ host }) => host)),
    path: first(urls.map(({ pathname }) => pathname)),
  };
}

export const noMatch = (place: Place, fields: readonly FilterField[]): string | undefined =>
  destinationFields.some((field) => fields.includes(field) && place.query.has(field.name))
    ? 'Label, host, path and URL match exactly.'
    : undefined;

/** Formats a time for a `datetime-local` field: in the user's time zone, to the minute. */
export function localTime(ms: number): string {
  if (!Number.isFinite(ms)) return '';
  const minuteMs = 60_000;
  return new Date(ms - new Date(ms).getTimezoneOffset() * minuteMs).toISOString().slice(0, 16);
}

interface FilterChoicesProps extends Omit<ChoicesProps, 'onChoose'> {
  /** The name of the filter in the address. */
  readonly filter: string;
}

/** Buttons for the values of a filter. The current one is pressed. */
export const FilterChoices = ({ filter, ...choices }: FilterChoicesProps) => (
  <Choices
    {...choices}
    onChoose={(value) => {
      setFilters({ [filter]: value });
    }}
  />
);

/** Describes a list's filters in words. */
export const inWords = (query: URLSearchParams, fields: readonly FilterField[]): string =>
  fields
    .flatMap(({ name, label, isTime }) => {
      const word = name === 'fromDate' ? 'since' : label.toLowerCase();
      return query.getAll(name).map((of) => `${word} ${isTime === true ? exactTime(Number(of)) : of}`);
    })
    .join(', ');
