/** The palette finds screens by name, things by their id, and messages by label or body. */
import { useId, useState } from 'preact/hooks';
import { runDeadLetterPage } from '../../../lambdas/wire/workflowAnswers.ts';
import { ask } from '../api/client.ts';
import { useAction } from '../api/useAsked.ts';
import { go, href } from '../place.ts';
import { Dialog } from '../ui/dialog.tsx';
import type { Screen } from './screens.tsx';

interface Found {
  readonly name: string;
  readonly kind: string;
  readonly address: () => string | Promise<string>;
}

/** A dead letter belongs to a message or a run. For a run, the run's page is opened. */
async function ofDeadLetter(dlqId: string): Promise<string> {
  const { messages } = await ask(runDeadLetterPage, { path: 'v2/workflows/dlq', query: { dlqIds: dlqId } });
  const [run] = messages;
  return run === undefined
    ? href(['dead-letters', dlqId])
    : href(['runs', run.workflowRunId], { workflowCreatedAt: run.workflowCreatedAt });
}

const ids: readonly (readonly [prefix: string, kind: string, address: (id: string) => Found['address']])[] = [
  ['msg_', 'Message', (id) => () => href(['messages', id])],
  ['wfr_', 'Workflow run', (id) => () => href(['runs', id])],
  ['dlq_', 'Dead letter', (id) => () => ofDeadLetter(id)],
  ['scd_', 'Schedule', (id) => () => href(['schedules', id])],
];

const searches = [
  ['Messages labelled', 'Label', 'messages', 'label'],
  ['Messages whose body contains', 'Body', 'messages', 'body'],
  ['Dead letters whose body contains', 'Body', 'dead-letters', 'body'],
] as const;

const searchesFor = (text: string): readonly Found[] =>
  searches.map(([what, kind, screen, filter]) => ({
    name: `${what} “${text}”`,
    kind,
    address: () => href([screen], { [filter]: text }),
  }));

function find(text: string, screens: readonly Screen[]): readonly Found[] {
  const words = text.trim().toLowerCase();
  const [id] = /(?:msg|wfr|dlq|scd)_[\w.-]+/.exec(text) ?? [];
  const things = ids.flatMap(([prefix, kind, address]) =>
    id?.startsWith(prefix) === true ? [{ name: id, kind, address: address(id) }] : [],
  );
  if (things.length > 0) return things;
  const named = screens
    .filter(({ name }) => name.toLowerCase().includes(words))
    .map(({ name, path }) => ({ name, kind: 'Screen', address: () => href([path]) }));
  return words === '' || !screens.some(({ path }) => path === 'messages')
    ? named
    : [...named, ...searchesFor(text.trim())];
}

export interface ScreensProps {
  readonly screens: readonly Screen[];
  readonly onClose: () => void;
}

export function Palette({ screens, onClose }: ScreensProps) {
  const [text, setText] = useState('');
  const [place, setPlace] = useState(0);
  const action = useAction();
  const id = useId();
  const found = find(text, screens);
  const chosen = Math.min(place, found.length - 1);
  const open = (one: Found | undefined): void => {
    if (one === undefined) return;
    void action.run(async () => {
      const address = await one.address();
      onClose();
      go(address);
      return undefined;
    });
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <form
        class="palette"
        onSubmit={(event) => {
          event.preventDefault();
          open(found[chosen]);
        }}
      >
        <input
          type="text"
          role="combobox"
          aria-label="A screen, an id, a label or text in a body"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={found.length === 0 ? undefined : `${id}-${chosen}`}
          aria-autocomplete="list"
          autocomplete="off"
          spellcheck={false}
          autofocus
          placeholder="A screen, an id, a label or text in a body: msg_… wfr_… dlq_… scd_…"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setPlace(0);
          }}
          onKeyDown={(event) => {
            const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
            if (step === 0 || found.length === 0) return;
            event.preventDefault();
            setPlace((chosen + step + found.length) % found.length);
          }}
        />
        <ul id={id} role="listbox" aria-label="Found">
          {found.map((one, index) => (
            <li
              key={`${one.kind} ${one.name}`}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === chosen}
              onClick={() => {
                open(one);
              }}
            >
              <span class="cut">{one.name}</span>
              <span class="hint">{one.kind}</span>
            </li>
          ))}
        </ul>
        <p class={action.error === undefined ? 'hint' : 'wrong'} role="status">
          {action.error ??
            (found.length === 0 ? 'There is no screen with that name, and it is not an id.' : '')}
        </p>
      </form>
    </Dialog>
  );
}
