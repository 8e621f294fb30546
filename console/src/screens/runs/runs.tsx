/** Runs of workflows: all of them, or the failed ones that can be resumed. */
import type { ComponentChildren } from 'preact';
import { runDeadLetterPage, runPage } from '../../../../lambdas/wire/workflowAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { usePages } from '../../api/useAsked.ts';
import { href, type Place } from '../../place.ts';
import { Cut, Empty, Page, State } from '../../ui/basics.tsx';
import { FilterBar, filtersOf, isFiltered, type FilterField, periodFields } from '../../ui/filters.tsx';
import { Listed, Table } from '../../ui/table.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { CancelAll, ChangeFailed, hrefOf } from './rerun.tsx';
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
    ['STEP_RETRY', 'With a step that is retried'],
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
/** The filters of each of the two lists. */
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

/** A page of the log reads the journal of each of its runs. */
const pageLength = 25;

export function Runs({ place }: { readonly place: Place }) {
  const [, id] = place.path;
  if (id !== undefined) return <OneRun place={place} id={id} />;
  return place.query.get('list') === 'failed' ? <FailedRuns place={place} /> : <AllRuns place={place} />;
}

interface ListProps {
  readonly place: Place;
  readonly fields: readonly FilterField[];
  /** The buttons that change all matching runs. */
  readonly actions: ComponentChildren;
  readonly isFailed?: boolean;
  readonly children: ComponentChildren;
}

/** The frame of both lists. */
const List = ({ place, fields, actions, isFailed = false, children }: ListProps) => (
  <Page title="Workflow runs" actions={useMayWrite() && actions}>
    <nav class="tabs" aria-label="Lists">
      <a href={href(['runs'])} aria-current={isFailed ? undefined : 'page'}>
        All runs
      </a>
      <a href={href(['runs'], { list: 'failed' })} aria-current={isFailed ? 'page' : undefined}>
        Failed, can be resumed
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
            caption="Runs of workflows, the newest first"
            rows={runs}
            keyOf={({ workflowRunId, workflowRunCreatedAt }) => `${workflowRunId}@${workflowRunCreatedAt}`}
            columns={[
              { head: 'State', cell: (run) => <RunState of={run} /> },
              {
                head: 'Workflow',
                isWide: true,
                cell: ({ workflowUrl, workflowRunId, workflowRunCreatedAt }) => (
                  <a href={hrefOf(workflowRunId, workflowRunCreatedAt)}>
                    <Cut text={workflowUrl} />
                  </a>
                ),
              },
              { head: 'Run', cell: ({ workflowRunId }) => <Cut isCode text={workflowRunId} /> },
              { head: 'Label', cell: ({ label }) => label ?? '' },
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

function FailedRuns({ place }: { readonly place: Place }) {
  const request = { path: 'v2/workflows/dlq', query: filtersOf(place, fieldsOfFailed) };
  const list = usePages(runDeadLetterPage, request, ({ messages }) => messages);
  return (
    <List
      place={place}
      fields={fieldsOfFailed}
      actions={<ChangeFailed query={filtersOf(place, fieldsOfFailed)} then={list.again} />}
      isFailed
    >
      <Listed
        list={list}
        empty={
          isFiltered(place, fieldsOfFailed) ? (
            noMatch
          ) : (
            <Empty title="No failed run waits to be resumed.">
              <p>A run that fails stays here until it is resumed, restarted or deleted.</p>
            </Empty>
          )
        }
      >
        {(messages) => (
          <Table
            caption="Runs that have failed, the newest first"
            rows={messages}
            keyOf={({ dlqId }) => dlqId}
            columns={[
              {
                head: 'Workflow',
                isWide: true,
                cell: ({ workflowUrl, workflowRunId, workflowCreatedAt }) => (
                  <a href={hrefOf(workflowRunId, workflowCreatedAt)}>
                    <Cut text={workflowUrl} />
                  </a>
                ),
              },
              { head: 'Run', cell: ({ workflowRunId }) => <Cut isCode text={workflowRunId} /> },
              { head: 'Status', isNumber: true, cell: ({ responseStatus }) => responseStatus || '–' },
              { head: 'Label', cell: ({ label }) => label ?? '' },
              {
                head: 'Failure function',
                cell: ({ failureFunctionState: told }) => (told === undefined ? '–' : <State state={told} />),
              },
              { head: 'Started', cell: ({ workflowCreatedAt }) => <Time at={workflowCreatedAt} /> },
            ]}
          />
        )}
      </Listed>
    </List>
  );
}
