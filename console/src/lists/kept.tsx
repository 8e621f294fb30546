/** Filters to which the user has given names. The browser stores them separately for each screen. */
import { useState } from 'preact/hooks';
import * as z from 'zod/mini';
import { go, href, type Place } from '../place.ts';
import { ActionForm } from '../ui/action.tsx';
import { parsed } from '../api/json.ts';
import { Button, Choices } from '../ui/basics.tsx';

const key = 'svc.filters';
const keptShape = z.record(z.string(), z.record(z.string(), z.string()));
type Kept = z.infer<typeof keptShape>;

/** If something else has overwritten the value, it is ignored. */
const load = (): Kept => keptShape.safeParse(parsed(localStorage.getItem(key) ?? '')).data ?? {};

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
        <div class="presets" role="group" aria-label="Saved filters">
          <Choices
            of={Object.entries(kept).map(([name, query]) => [query, name] as const)}
            chosen={current}
            onChoose={(query) => {
              go(href(place.path, new URLSearchParams(query)), 'replace');
            }}
          />
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
        <ActionForm
          name="Save this filter…"
          kind="quiet"
          title="Save this filter"
          yes="Save"
          fields={{
            name: {
              label: 'Name',
              required: true,
              autoFocus: true,
              hint: 'A filter with the same name is replaced.',
            },
          }}
          isReady={({ name }) => name.trim() !== ''}
          work={({ name }) => {
            keep({ ...kept, [name.trim()]: current });
            return Promise.resolve(`The filter “${name.trim()}” is saved in this browser.`);
          }}
        />
      )}
    </>
  );
}
