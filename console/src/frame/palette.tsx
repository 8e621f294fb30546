/** The palette finds screens, things by their id or a part of their name, documents, and messages by label or body. */
import { useEffect, useId, useState } from 'preact/hooks';
import { accounts } from '../../../lambdas/wire/accountAnswers.ts';
import type { Answer } from '../../../lambdas/wire/answers.ts';
import { foundNames } from '../../../lambdas/wire/statsAnswers.ts';
import { runDeadLetterPage } from '../../../lambdas/wire/workflowAnswers.ts';
import { ask } from '../api/client.ts';
import { isSettled, useAction, useAsked } from '../api/useAsked.ts';
import { go, href } from '../place.ts';
import { hrefOfHost, hrefOfRun, hrefOfSchedule } from '../screens/links.tsx';
import { credentialsOf, type Api } from '../session.ts';
import { countOf } from '../ui/basics.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { documents, findDocuments } from './documents.ts';
import type { Screen } from './screens.tsx';

interface Found {
  readonly name: string;
  readonly kind: string;
  /** A place in the console, or a URL, which is opened beside it. */
  readonly address: () => string | URL | Promise<string>;
}

/** Finds the page of a dead letter. A dead letter of a run is shown on the run's page. */
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

function find(
  text: string,
  screens: readonly Screen[],
  names: readonly Found[],
  pages: Answer<typeof documents>,
): readonly Found[] {
  const words = text.trim().toLowerCase();
  const [id] = /(?:msg|wfr|dlq|scd)_[\w.-]+/.exec(text) ?? [];
  const things = ids.flatMap(([prefix, kind, address]) =>
    id?.startsWith(prefix) === true ? [{ name: id, kind, address: address(id) }] : [],
  );
  if (things.length > 0) return things;
  const named = screens
    .filter(({ name }) => name.toLowerCase().includes(words))
    .map(({ name, path }) => ({ name, kind: 'Screen', address: () => href([path]) }));
  const parts = settings
    .filter(
      ([name, screen]) => name.toLowerCase().includes(words) && screens.some(({ path }) => path === screen),
    )
    .map(([name, screen]) => ({ name, kind: 'Part of a screen', address: () => href([screen]) }));
  if (words === '') return named;
  const written = findDocuments(pages, words).map(({ name, url }) => ({
    name,
    kind: 'Document',
    address: () => url,
  }));
  const isOfMessages = screens.some(({ path }) => path === 'messages');
  return [...named, ...names, ...parts, ...written, ...(isOfMessages ? searchesFor(text.trim()) : [])];
}

type FoundName = Answer<typeof foundNames>['results'][number];

const kinds: Readonly<
  Record<FoundName['kind'], readonly [kind: string, address: (of: FoundName) => string]>
> = {
  queue: ['Queue', ({ name }) => href(['queues', name])],
  flowControlKey: ['Flow-control key', ({ name }) => href(['flow-control', name])],
  urlGroup: ['URL group', ({ name }) => href(['url-groups', name])],
  schedule: ['Schedule', ({ name }) => hrefOfSchedule(name)],
  host: ['Host', ({ name }) => hrefOfHost(name)],
  label: ['Label', ({ name }) => href(['messages'], { label: name })],
  run: ['Workflow run', ({ workflowRunId: id = '', workflowRunCreatedAt: at = 0 }) => hrefOfRun(id, at)],
};

/** Words that people look for, and the screens where they are. */
const settings: readonly (readonly [name: string, screen: string])[] = [
  ['Signing keys', 'keys'],
  ['The account’s token', 'keys'],
  ['Named tokens', 'keys'],
  ['Circuits: hosts that are down', 'flow-control'],
  ['Global parallelism', 'flow-control'],
  ['Quiet hours', 'alarms'],
  ['Limits', 'overview'],
  ['Who changed what', 'audit'],
  ['Budgets and limits of accounts', 'accounts'],
];

/** Names are requested when the user has not typed for this long (ms). */
const pauseMs = 150;

/** @returns undefined until the names that contain the text have arrived */
function useNames(text: string, screens: readonly Screen[]): readonly Found[] | undefined {
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(setAsked, pauseMs, text);
    return () => {
      clearTimeout(timer);
    };
  }, [text]);
  const serves = (api: Api): boolean => screens.some((screen) => screen.api === api);
  const isAsked = asked !== '' && asked === text;
  const names = useAsked(
    foundNames,
    isAsked && serves('messaging') ? { path: 'v2/search', query: { q: asked } } : undefined,
  );
  const isOperator = serves('management') && credentialsOf('management') !== undefined;
  const users = { api: 'management', path: 'v2/svc/users' } as const;
  const all = useAsked(accounts, isOperator ? users : undefined);
  const ofAccounts = (all.answer ?? [])
    .map(({ id, customer_id: name = id }) => ({
      name,
      kind: 'Account',
      address: () => href(['accounts', id]),
    }))
    .filter(({ name }) => asked !== '' && name.toLowerCase().includes(asked.toLowerCase()));
  if (!isAsked || (serves('messaging') && !isSettled(names))) return asked === text ? ofAccounts : undefined;
  const found = (names.answer?.results ?? []).map((one) => {
    const [kind, address] = kinds[one.kind];
    return { name: one.name, kind, address: () => address(one) };
  });
  return [...found, ...ofAccounts];
}

export interface ScreensProps {
  readonly screens: readonly Screen[];
  readonly onClose: () => void;
}

const keyOf = ({ kind, name }: Found): string => `${kind} ${name}`;

export function Palette({ screens, onClose }: ScreensProps) {
  const [text, setText] = useState('');
  const [place, setPlace] = useState('');
  const action = useAction();
  const id = useId();
  const names = useNames(text.trim(), screens);
  const pages = useAsked(documents, { path: 'console/documents.json' });
  const found = find(text, screens, names ?? [], pages.answer ?? []);
  // The choice does not change when more names arrive.
  const chosen = Math.max(
    0,
    found.findIndex((one) => keyOf(one) === place),
  );
  const open = (one: Found | undefined): void => {
    if (one === undefined) return;
    void action.run(async () => {
      const address = await one.address();
      onClose();
      if (address instanceof URL) window.open(address, '_blank', 'noopener');
      else go(address);
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
          aria-label="A name, an id, a label or text in a body"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={found.length === 0 ? undefined : `${id}-${chosen}`}
          aria-autocomplete="list"
          autocomplete="off"
          spellcheck={false}
          autofocus
          placeholder="A screen, a queue, a host, a document, an id: msg_… wfr_…"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setPlace('');
          }}
          onKeyDown={(event) => {
            const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
            if (step === 0 || found.length === 0) return;
            event.preventDefault();
            const next = found[(chosen + step + found.length) % found.length];
            setPlace(next === undefined ? '' : keyOf(next));
          }}
        />
        <ul id={id} role="listbox" aria-label="Found">
          {found.map((one, index) => (
            <li
              key={keyOf(one)}
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
          {action.error?.sentence ??
            pages.error?.sentence ??
            (found.length === 0
              ? names === undefined
                ? 'Searching…'
                : 'Nothing has that name, and it is not an id.'
              : text === '' || names === undefined
                ? ''
                : `${countOf(names.length, 'name')} found.`)}
        </p>
      </form>
    </Dialog>
  );
}
