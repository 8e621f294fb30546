/** Filters that the user has named. The browser stores them for each screen separately. */
import { useState } from 'preact/hooks';
import * as z from 'zod/mini';
import { go, href, type Place } from '../place.ts';
import { Opens } from '../ui/act.tsx';
import { Button } from '../ui/basics.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { TextField } from '../ui/fields.tsx';

const key = 'svc.filters';
const keptShape = z.record(z.string(), z.record(z.string(), z.string()));
type Kept = z.infer<typeof keptShape>;

function load(): Kept {
  try {
    return keptShape.safeParse(JSON.parse(localStorage.getItem(key) ?? '{}')).data ?? {};
  } catch {
    // Another program has overwritten the stored value: it is ignored.
    return {};
  }
}

export function KeptFilters({ place, isFiltered }: { readonly place: Place; readonly isFiltered: boolean }) {
  const [screen = ''] = place.path;
  const [kept, setKept] = useState(() => load()[screen] ?? {});
  const keep = (changed: Readonly<Record<string, string>>): void => {
    localStorage.setItem(key, JSON.stringify({ ...load(), [screen]: changed }));
    setKept(changed);
  };
  const current = place.query.toString();
  const shown = Object.entries(kept).find(([, query]) => query === current)?.[0];
  return (
    <>
      {Object.keys(kept).length > 0 && (
        <div class="presets" role="group" aria-label="Kept filters">
          {Object.entries(kept).map(([name, query]) => (
            <Button
              key={name}
              kind="quiet"
              aria-pressed={query === current}
              onClick={() => {
                go(href(place.path, new URLSearchParams(query)), 'replace');
              }}
            >
              {name}
            </Button>
          ))}
        </div>
      )}
      {shown !== undefined && (
        <Button
          kind="quiet"
          onClick={() => {
            keep(Object.fromEntries(Object.entries(kept).filter(([name]) => name !== shown)));
          }}
        >
          Forget “{shown}”
        </Button>
      )}
      {isFiltered && shown === undefined && (
        <Opens name="Keep this filter…" kind="quiet">
          {(onClose) => (
            <Name
              onName={(name) => {
                keep({ ...kept, [name]: current });
              }}
              onClose={onClose}
            />
          )}
        </Opens>
      )}
    </>
  );
}

function Name({
  onName,
  onClose,
}: {
  readonly onName: (name: string) => void;
  readonly onClose: (isDone: boolean) => void;
}) {
  const [name, setName] = useState('');
  const work = (): Promise<string> => {
    onName(name.trim());
    return Promise.resolve(`The filter “${name.trim()}” is kept in this browser.`);
  };
  return (
    <Confirm title="Keep this filter" yes="Keep" isReady={name.trim() !== ''} work={work} onClose={onClose}>
      <TextField
        label="Name"
        value={name}
        onInput={setName}
        required
        autoFocus
        hint="One with this name is replaced."
      />
    </Confirm>
  );
}
