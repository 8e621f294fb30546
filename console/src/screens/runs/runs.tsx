/** Workflow runs: all of them, or the failed ones, which can be resumed. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { counted } from '../../../../lambdas/wire/answers.ts';
import { deadLetterCount } from '../../../../lambdas/wire/statsAnswers.ts';
import { runDeadLetterPage, runPage } from '../../../../lambdas/wire/workflowAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { countedText, isSettled, useAsked, usePages } from '../../api/useAsked.ts';
import { href, type Place } from '../../place.ts';
import { count, Cut, Empty, Failure, Page, State } from '../../ui/basics.tsx';
import {
  FilterBar,
  filtersOf,
  inWords,
  isFiltered,
  type FilterField,
  periodFields,
} from '../../ui/filters.tsx';
import { Groups, kindsOfRuns } from '../deadLetters/groups.tsx';
import { CutMiddle, Labels, Listed, Table } from '../../ui/table.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { hrefOf } from './links.ts';
import { CancelAll, ChangeFailed } from './rerun.tsx';
import { firstLineOf } from '../../../../lambdas/value/failureText.ts';
import { statusOfRun } from './failure.ts';
import { OneRun } from './run.tsx';
import { RunState } from './steps.tsx';

const state: FilterField = {
  name: 'state',
  label: 'State',
  isMain: true,
  options: [
    ['', 'All'],
    ['RUN_STARTED', 'Running'],
    ['RUN_SUCCESS', 'Succeeded'],
    ['RUN_FAILED', 'Failed'],
    ['RUN_CANCELED', 'Cancelled'],
    ['STEP_RETRY', 'With a retried step'],
  ],
};
const first: readonly FilterField[] = [
  { name: 'workflowUrl', label: 'Workflow URL', placeholder: 'https://…', isMain: true },
  { name: 'label', label: 'Label', isMain: true },
  { name: 'workflowRunId', label: 'Run id', placeholder: 'wfr_…', isMain: true },
];
const last: readonly FilterField[] = [
  { name: 'flowControlKey', label: 'Flow-control key' },
  { name: 'callerIp', label: 'Started from' },
  ...periodFields,
];
const fieldsOfAll = [
  state,
  ...first,
  { name: 'host', label: 'Host' },
  { name: 'path', label: 'Path' },
  { name: 'messageId', label: 'Message id' },
  ...last,
];
const fieldsOfFailed = [
  ...first,
  { name: 'responseStatus', label: 'Status' },
  { name: 'error', label: 'Reason', isExact: true },
  {
    name: 'failureFunctionState',
    label: 'Failure function',
    options: [
      ['', 'All'],
      ['CALLBACK_INPROGRESS', 'Running'],
      ['CALLBACK_SUCCESS', 'Succeeded'],
      ['CALLBACK_FAIL', 'Failed'],
      ['CALLBACK_CANCELED', 'Cancelled'],
    ],
  } satisfies FilterField,
  ...last,
];

/** The API reads the journal of every run on a page, so pages are short. */
const pageLength = 25;

export function Runs({ place }: { readonly place: Place }) {
  const [, id] = place.path;
  if (id !== undefined) return <OneRun place={place} id={id} />;
  return place.query.get('list') === 'failed' ? <FailedRuns place={place} /> : <AllRuns place={place} />;
}

interface ListProps {
  readonly place: Place;
  readonly fields: readonly FilterField[];
  readonly actions: ComponentChildren;
  readonly isFailed?: boolean;
  readonly children: ComponentChildren;
}

function FailedCount() {
  const asked = useAsked(counted, { path: 'v2/workflows/dlq/count' }, countedEveryMs);
  return asked.answer === undefined || asked.answer.count === 0 ? null : (
    <>
      {' '}
      <span class="badge">{countedText(asked)}</span>
    </>
  );
}

/** The frame of both lists. */
const List = ({ place, fields, actions, isFailed = false, children }: ListProps) => (
  <Page title="Workflow runs" actions={useMayWrite() && actions} isSticky>
    <nav class="tabs" aria-label="Lists">
      <a href={href(['runs'])} aria-current={isFailed ? undefined : 'page'}>
        All runs
      </a>
      <a href={href(['runs'], { list: 'failed' })} aria-current={isFailed ? 'page' : undefined}>
        Failed, can be resumed
        <FailedCount />
      </a>
    </nav>
    <FilterBar place={place} fields={fields} />
    {children}
  </Page>
);

const noMatch = <Empty title="No run matches these filters." />;

function AllRuns({ place }: { readonly place: Place }) {
  const query = filtersOf(place, fieldsOfAll);
  query.set('count', String(pageLength));
  query.set('trimBody', '-1');
  const list = usePages(runPage, { path: 'v2/workflows/logs', query }, ({ runs }) => runs);
  return (
    <List
      place={place}
      fields={fieldsOfAll}
      actions={<CancelAll query={filtersOf(place, fieldsOfAll)} then={list.again} />}
    >
      <Listed
        list={list}
        empty={
          isFiltered(place, fieldsOfAll) ? (
            noMatch
          ) : (
            <Empty title="No runs yet.">
              <p>A client starts them, or a POST to v2/trigger/ and the workflow’s URL.</p>
            </Empty>
          )
        }
      >
        {(runs) => (
          <Table
            caption="Workflow runs, the newest first"
            rows={runs}
            keyOf={({ workflowRunId, workflowRunCreatedAt }) => `${workflowRunId}@${workflowRunCreatedAt}`}
            columns={[
              { head: 'State', cell: (run) => <RunState of={run} /> },
              {
                head: 'Workflow',
                isWide: true,
                cell: ({ workflowUrl, workflowRunId, workflowRunCreatedAt }) => (
                  <a href={hrefOf(workflowRunId, workflowRunCreatedAt)}>
                    <CutMiddle text={workflowUrl} />
                  </a>
                ),
              },
              { head: 'Run', cell: ({ workflowRunId }) => <Cut isCode text={workflowRunId} /> },
              { head: 'Label', cell: ({ labels }) => <Labels of={labels} /> },
              { head: 'Started', cell: ({ workflowRunCreatedAt }) => <Time at={workflowRunCreatedAt} /> },
              {
                head: 'Took',
                isNumber: true,
                cell: ({ workflowRunCreatedAt: from, workflowRunCompletedAt: until }) =>
                  until === undefined ? '–' : duration(until - from),
              },
            ]}
          />
        )}
      </Listed>
    </List>
  );
}

/** Milliseconds. A count reads every entry that it counts. */
const countedEveryMs = 10_000;

function FailedRuns({ place }: { readonly place: Place }) {
  const query = filtersOf(place, fieldsOfFailed);
  const list = usePages(runDeadLetterPage, { path: 'v2/workflows/dlq', query }, ({ messages }) => messages);
  const counts = useAsked(deadLetterCount, { path: 'v2/workflows/dlq/count', query }, countedEveryMs);
  // The groups are above the rows. The rows are hidden until the groups are loaded, so that they don't jump.
  const shown = isSettled(counts) ? list : { ...list, items: undefined, more: undefined };
  const mayWrite = useMayWrite();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  // Entries that are gone, or hidden by a filter, are no longer selected.
  const ids = list.items?.flatMap(({ dlqId }) => (selected.has(dlqId) ? dlqId : [])) ?? [];
  const { count: number } = counts.answer ?? { count: 0 };
  const some = countedText(counts);
  const which =
    ids.length > 0
      ? `the ${count(ids.length)} selected`
      : isFiltered(place, fieldsOfFailed)
        ? `the ${some} ${number === 1 ? 'match' : 'matches'}`
        : `all ${some}`;
  return (
    <List
      place={place}
      fields={fieldsOfFailed}
      actions={
        <ChangeFailed
          query={query}
          which={which}
          isHidden={number === 0 && ids.length === 0}
          {...(ids.length > 0 ? { ids } : { words: inWords(query, fieldsOfFailed) })}
          then={() => {
            setSelected(new Set());
            list.again();
            counts.again();
          }}
        />
      }
      isFailed
    >
      {counts.error !== undefined && list.error === undefined && (
        <Failure error={counts.error} again={counts.again} />
      )}
      {counts.answer && (
        <Groups place={place} counts={counts.answer} kinds={kindsOfRuns} total={some} noun="Failed runs" />
      )}
      <Listed
        list={shown}
        empty={
          isFiltered(place, fieldsOfFailed) ? (
            noMatch
          ) : (
            <Empty title="There is no failed run to resume.">
              <p>A run that fails stays here until it is resumed, restarted or deleted.</p>
            </Empty>
          )
        }
      >
        {(messages) => (
          <Table
            caption="Failed runs, the newest first"
            rows={messages}
            keyOf={({ dlqId }) => dlqId}
            nameOf={({ workflowUrl, workflowRunId }) => `${workflowUrl} ${workflowRunId}`}
            {...(mayWrite && { selection: { selected, onChange: setSelected } })}
            columns={[
              {
                head: 'Workflow',
                isWide: true,
                cell: (one) => (
                  <div>
                    <a href={hrefOf(one.workflowRunId, one.workflowCreatedAt)}>
                      <CutMiddle text={one.workflowUrl} />
                    </a>
                    <span class="hint">
                      <Cut text={firstLineOf(one)} />
                    </span>
                  </div>
                ),
              },
              { head: 'Run', cell: ({ workflowRunId }) => <Cut isCode text={workflowRunId} /> },
              {
                head: 'Status',
                isNumber: true,
                cell: ({ responseStatus }) => statusOfRun(responseStatus),
              },
              { head: 'Label', cell: ({ labels }) => <Labels of={labels} /> },
              {
                head: 'Failure function',
                cell: ({ failureFunctionState: told }) => (told === undefined ? '–' : <State state={told} />),
              },
              { head: 'Failed', cell: ({ failedAt }) => <Time at={failedAt} /> },
            ]}
          />
        )}
      </Listed>
    </List>
  );
}
