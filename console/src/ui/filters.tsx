/** Filters of a list: the query of the screen's address, with the API's names. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { go, href, placeOf, type Place } from '../place.ts';
import { Button } from './basics.tsx';
import { SelectField, TextField } from './fields.tsx';

export interface FilterField {
  /** The API's name. */
  readonly name: string;
  readonly label: string;
  readonly placeholder?: string;
  /** Values with their names; the first is not sent. A field without options is a text. */
  readonly options?: readonly (readonly [string, string])[];
  /** Whether the value is a moment; the API gets Unix milliseconds. */
  readonly isTime?: boolean;
  /** Whether it is visible at first; others are behind a button. */
  readonly isMain?: boolean;
}

/** The filters by origin that lists of messages share. */
export const originFields: readonly FilterField[] = [
  { name: 'topicName', label: 'URL group' },
  { name: 'queueName', label: 'Queue' },
  { name: 'flowControlKey', label: 'Flow-control key' },
  { name: 'scheduleId', label: 'Schedule' },
];

/** The filters of a period. */
export const periodFields: readonly FilterField[] = [
  { name: 'fromDate', label: 'From', isTime: true },
  { name: 'toDate', label: 'Until', isTime: true },
];

interface FilterBarProps {
  readonly place: Place;
  readonly fields: readonly FilterField[];
}

/** The filters of a place that a list knows, as the query of its request. */
export function filtersOf({ query }: Place, fields: readonly FilterField[]): URLSearchParams {
  return new URLSearchParams(
    fields.flatMap(({ name }) => query.getAll(name).map((value): [string, string] => [name, value])),
  );
}

export const isFiltered = (place: Place, fields: readonly FilterField[]): boolean =>
  filtersOf(place, fields).size > 0;

/**
 * Sets or removes one value of the query, and goes there. It reads the address itself: the screen may be older when two filters
 * are set within a moment.
 */
export function setFilter(name: string, value: string): void {
  const { path, query } = placeOf(location.hash);
  if (value === '') query.delete(name);
  else query.set(name, value);
  go(href(path, query), 'replace');
}

export function FilterBar({ place, fields }: FilterBarProps) {
  const isSet = ({ name }: FilterField): boolean => place.query.has(name);
  const [isOpen, setOpen] = useState(false);
  const shown = fields.filter((field) => isOpen || field.isMain === true || isSet(field));
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
        <Filter key={field.name} field={field} place={place} />
      ))}
      <div class="filters-end">
        {shown.length < fields.length && (
          <Button
            kind="quiet"
            onClick={() => {
              setOpen(true);
            }}
          >
            More filters
          </Button>
        )}
        {fields.some(isSet) && (
          <Button
            kind="quiet"
            onClick={() => {
              setOpen(false);
              const query = new URLSearchParams(place.query);
              for (const { name } of fields) query.delete(name);
              go(href(place.path, query), 'replace');
            }}
          >
            Clear
          </Button>
        )}
      </div>
    </form>
  );
}

/** The pause in typing, ms, after which the list is loaded. */
const pauseMs = 400;

function Filter({ field, place }: { readonly field: FilterField; readonly place: Place }) {
  const { name, label, placeholder, options, isTime } = field;
  const value = place.query.get(name) ?? '';
  const [text, setText] = useState(value);
  // The typed text stays, unless the address gets another value than from this text.
  const known = useRef(value);
  if (value !== known.current) {
    known.current = value;
    setText(value);
  }
  useEffect(() => {
    if (text.trim() === known.current) return undefined;
    const timer = setTimeout(() => {
      known.current = text.trim();
      setFilter(name, known.current);
    }, pauseMs);
    return () => {
      clearTimeout(timer);
    };
  }, [text]);
  if (options !== undefined) {
    return (
      <SelectField
        label={label}
        value={value}
        options={options}
        onInput={(chosen) => {
          setFilter(name, chosen);
        }}
      />
    );
  }
  if (isTime === true) {
    return (
      <TextField
        label={label}
        type="datetime-local"
        value={value === '' ? '' : localTime(Number(value))}
        onInput={(chosen) => {
          setFilter(name, chosen === '' ? '' : String(new Date(chosen).getTime()));
        }}
      />
    );
  }
  return (
    <TextField
      label={label}
      type="search"
      value={text}
      onInput={setText}
      {...(placeholder !== undefined && { placeholder })}
    />
  );
}

/** Formats a moment for a `datetime-local` control: in the viewer's zone, to the minute. */
export function localTime(ms: number): string {
  if (!Number.isFinite(ms)) return '';
  const minuteMs = 60_000;
  return new Date(ms - new Date(ms).getTimezoneOffset() * minuteMs).toISOString().slice(0, 16);
}
