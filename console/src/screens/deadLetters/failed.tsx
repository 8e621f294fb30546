/** Buttons that retry or delete failed messages or runs: one, the selected ones, or all that match. */
import { useState } from 'preact/hooks';
import { deleted, retriedPage } from '../../../../lambdas/wire/answers.ts';
import { rerunAnswers } from '../../../../lambdas/wire/workflowAnswers.ts';
import { pagesOf, type Request } from '../../api/client.ts';
import { Bulk } from '../../lists/bulk.tsx';
import type { SettingsProps } from '../../ui/action.tsx';
import { Field } from '../../ui/fields.tsx';
import { ChangedSettings } from '../../ui/settings.tsx';
import { sentAs, settingHeaders, type SettingTexts } from '../../ui/settingTexts.ts';
import { hrefOfMessages } from '../links.tsx';

interface Way {
  /** The last part of the API's path. */
  readonly kind: string;
  readonly verb: string;
  readonly done: string;
  readonly effect: string;
}

export interface Failed {
  readonly noun: string;
  readonly path: string;
  readonly atOnce: number;
  readonly ways: readonly Way[];
  /** Sends the selected ones again, and yields the ids of the new messages or runs. */
  readonly send: (request: Request) => AsyncIterable<readonly string[]>;
  readonly hrefOf?: (ids: readonly string[]) => string;
  readonly form: 'retry' | 'resume';
  readonly hasPace?: boolean;
  readonly afterDeletion: string;
  /** A text such as "the 3 selected messages", after a verb. */
  readonly selected: (count: string) => string;
}

const retry: Way = {
  kind: 'retry',
  verb: 'Retry',
  done: 'sent again',
  effect: 'Each is sent again as a new message, and disappears from this list.',
};

export const deadLetters: Failed = {
  noun: 'dead letter',
  path: 'v2/dlq',
  atOnce: 100,
  ways: [retry],
  send: async function* (request) {
    for await (const page of pagesOf(retriedPage, request))
      yield page.responses.map(({ messageId }) => messageId);
  },
  hrefOf: hrefOfMessages,
  form: 'retry',
  hasPace: true,
  afterDeletion: 'After that, they cannot be retried or inspected.',
  selected: (count) => `${count} selected`,
};

export const rerunWays = [
  {
    kind: 'resume',
    verb: 'Resume',
    done: 'resumed',
    means: 'keeps the completed steps, and continues where it failed',
  },
  { kind: 'restart', verb: 'Restart', done: 'restarted', means: 'starts from the first step' },
] as const;

export const failedRuns: Failed = {
  noun: 'run',
  path: 'v2/workflows/dlq',
  atOnce: 20,
  ways: rerunWays.map(({ means, ...way }) => ({ ...way, effect: `Each gets a new run ${means}.` })),
  send: async function* (request) {
    for await (const page of pagesOf(rerunAnswers, request))
      yield page.workflowRuns.map(({ workflowRunId }) => workflowRunId);
  },
  form: 'resume',
  afterDeletion: 'After that, they cannot be resumed. The log shows them as long as it is kept.',
  selected: (count) => `the ${count} selected`,
};

/** The settings as parts of a request. Values that do not fit into a header are in the query. */
export function settingsIn(texts: SettingTexts, selected?: URLSearchParams) {
  const { headers, query } = sentAs(settingHeaders(texts));
  return { headers, query: new URLSearchParams([...(selected ?? []), ...query]) };
}

interface Selected {
  /** Undefined if all that the query selects are meant. */
  readonly ids?: readonly string[];
  readonly query: URLSearchParams;
  /** The filters in words; empty if there are none. */
  readonly words?: string;
  /** Whether the buttons are hidden because there is nothing to do. A dialogue that is open stays open. */
  readonly isHidden?: boolean;
  /** @param sent ids of what was sent again */
  readonly then: (sent: readonly string[]) => void;
}

interface AgainProps extends Selected {
  readonly of: Failed;
  readonly way: Way;
  readonly name: string;
  readonly kind?: 'main';
}

const Again = ({ of, way, name, kind, ...selected }: AgainProps) => (
  <Bulk
    {...selected}
    name={name}
    kind={kind}
    verb={way.verb}
    done={way.done}
    effect={way.effect}
    noun={of.noun}
    atOnce={of.atOnce}
    path={`${of.path}/count`}
    hrefOf={of.hrefOf}
    settings={(props) => (
      <>
        {of.hasPace === true && selected.ids?.length !== 1 && <Pace {...props} />}
        <ChangedSettings form={of.form} {...props} />
      </>
    )}
    work={(query, texts) =>
      of.send({ method: 'POST', path: `${of.path}/${way.kind}`, ...settingsIn(texts, query) })
    }
  />
);

export const RetryOne = ({ dlqId, then }: { readonly dlqId: string; readonly then: Selected['then'] }) => (
  <Again
    of={deadLetters}
    way={retry}
    name="Retry…"
    kind="main"
    ids={[dlqId]}
    query={new URLSearchParams()}
    then={then}
  />
);

interface FailedActsProps extends Selected {
  readonly of: Failed;
  /** Such as `all 12`, after a verb. */
  readonly which: string;
}

export const FailedActs = ({ of, which, ...selected }: FailedActsProps) => (
  <>
    {of.ways.map((way) => (
      <Again key={way.kind} {...selected} of={of} way={way} name={`${way.verb} ${which}…`} />
    ))}
    <Bulk
      {...selected}
      name={`Delete ${which}…`}
      verb="Delete"
      done="deleted"
      effect={of.afterDeletion}
      noun={of.noun}
      atOnce={of.atOnce}
      path={`${of.path}/count`}
      isDangerous
      then={() => {
        selected.then([]);
      }}
      work={async function* (query) {
        const request = { method: 'DELETE', path: of.path, query } as const;
        for await (const part of pagesOf(deleted, request)) yield part.deleted;
      }}
    />
  </>
);

const newKey = (): string => `retry-${new Date().toISOString().slice(0, 19).replaceAll(/[T:]/g, '-')}`;

/** Slows down a retry by a flow-control key, unless the settings already have one. */
function Pace({ texts, onChange }: SettingsProps) {
  const [made] = useState(newKey);
  const rate = texts['rate'] ?? '';
  const key = texts['flow-control-key'] ?? '';
  return (
    <Field
      label="Maximum per second"
      type="number"
      placeholder="all at once"
      value={texts['period'] === '1s' ? rate : ''}
      onInput={(text) => {
        const isOwn = key === '' || key === made;
        onChange({
          ...texts,
          rate: text,
          period: text === '' ? '' : '1s',
          'flow-control-key': isOwn ? (text === '' ? '' : made) : key,
        });
      }}
      hint={
        key === made && (
          <>
            They get the flow-control key <code>{made}</code>, with which you can pause them or change their
            speed.
          </>
        )
      }
    />
  );
}
