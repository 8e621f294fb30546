/** Workflow runs: all of them, or the failed ones, which can be resumed. */
import { counted } from '../../../../lambdas/wire/answers.ts';
import { runDeadLetterPage, runPage } from '../../../../lambdas/wire/workflowAnswers.ts';
import { firstLineOf } from '../../../../lambdas/value/failureText.ts';
import { countedText, useAsked } from '../../api/useAsked.ts';
import { ResourceList } from '../../lists/resourceList.tsx';
import type { Place } from '../../place.ts';
import { Tabs } from '../../ui/basics.tsx';
import { filtersOf, type FilterField, periodFields, stateOptions } from '../../ui/filters.tsx';
import { CutMiddle } from '../../ui/table.tsx';
import { duration } from '../../ui/time.tsx';
import { failedRuns } from '../deadLetters/failed.tsx';
import { FailedList } from '../deadLetters/failedList.tsx';
import { kindsOfRuns } from '../deadLetters/groups.tsx';
import { statusOfRun } from './failure.ts';
import { CancelAll } from './rerun.tsx';
import { OneRun } from './run.tsx';
import { RunState } from './steps.tsx';
import { hrefOfRun } from '../links.tsx';

const state: FilterField = {
  name: 'state',
  label: 'State',
  isMain: true,
  options: [
    ...stateOptions('RUN_STARTED', 'RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED'),
    ['RUN_HANGING', 'Hanging'],
    ['RUN_SLEEPING', 'Sleeping'],
    ['RUN_WAITING', 'Waiting for an event'],
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
    options: stateOptions('CALLBACK_INPROGRESS', 'CALLBACK_SUCCESS', 'CALLBACK_FAIL', 'CALLBACK_CANCELED'),
  },
  ...last,
];

/** Few, because the API reads the whole journal of each run. */
const pageLength = 25;

export function Runs({ place }: { readonly place: Place }) {
  const [, id] = place.path;
  if (id !== undefined) return <OneRun place={place} id={id} />;
  return place.query.get('list') === 'failed' ? <FailedRuns place={place} /> : <AllRuns place={place} />;
}

/** Rare, because a count reads all entries. Milliseconds. */
const countedEveryMs = 10_000;

function FailedCount() {
  const asked = useAsked(counted, { path: 'v2/workflows/dlq/count' }, countedEveryMs);
  return asked.answer === undefined || asked.answer.count === 0 ? null : (
    <>
      {' '}
      <span class="badge">{countedText(asked)}</span>
    </>
  );
}

const lists = [
  ['', 'All runs'],
  [
    'failed',
    <>
      Failed, can be resumed
      <FailedCount />
    </>,
  ],
] as const;

/** An id may be a name, so both its beginning and end are shown. */
const RunId = ({ of }: { readonly of: string }) => (
  <code class="run-id">
    <CutMiddle text={of} />
  </code>
);

const noMatch = 'No run matches these filters.';

const AllRuns = ({ place }: { readonly place: Place }) => (
  <ResourceList
    title="Workflow runs"
    isSticky
    place={place}
    fields={fieldsOfAll}
    shape={runPage}
    path="v2/workflows/logs"
    query={{ count: String(pageLength), trimBody: '-1' }}
    rowsOf={({ runs }) => runs}
    file="runs"
    inFile={({ steps, ...run }) => ({ ...run, steps: steps.length })}
    actions={({ again }) => <CancelAll query={filtersOf(place, fieldsOfAll)} then={again} />}
    noMatch={noMatch}
    empty={[
      'No runs yet.',
      <p>A client starts runs, or a POST to v2/trigger/ followed by the workflow’s URL.</p>,
    ]}
    caption="Workflow runs, the newest first"
    keyOf={({ workflowRunId, workflowRunCreatedAt }) => `${workflowRunId}@${workflowRunCreatedAt}`}
    columns={[
      { head: 'State', cell: (run) => <RunState of={run} /> },
      {
        head: 'Workflow',
        address: ({ workflowUrl }) => workflowUrl,
        to: ({ workflowRunId, workflowRunCreatedAt }) => hrefOfRun(workflowRunId, workflowRunCreatedAt),
      },
      { head: 'Run', cell: ({ workflowRunId }) => <RunId of={workflowRunId} /> },
      { head: 'Label', labels: ({ labels }) => labels },
      { head: 'Started', time: ({ workflowRunCreatedAt }) => workflowRunCreatedAt },
      {
        head: 'Duration',
        isNumber: true,
        cell: ({ workflowRunCreatedAt: from, workflowRunCompletedAt: until }) =>
          until === undefined ? '–' : duration(until - from),
      },
    ]}
  >
    <Tabs place={place} of={lists} />
  </ResourceList>
);

const FailedRuns = ({ place }: { readonly place: Place }) => (
  <FailedList
    of={failedRuns}
    title="Workflow runs"
    place={place}
    fields={fieldsOfFailed}
    shape={runDeadLetterPage}
    rowsOf={({ messages }) => messages}
    kinds={kindsOfRuns}
    groupsOf="Failed runs"
    noMatch={noMatch}
    empty={[
      'There is no failed run to resume.',
      <p>A run that fails stays here until it is resumed, restarted or deleted.</p>,
    ]}
    caption="Failed runs, the newest first"
    nameOf={({ workflowUrl, workflowRunId }) => `${workflowUrl} ${workflowRunId}`}
    columns={[
      {
        head: 'Workflow',
        address: ({ workflowUrl }) => workflowUrl,
        to: ({ workflowRunId, workflowCreatedAt }) => hrefOfRun(workflowRunId, workflowCreatedAt),
        hint: (run) => firstLineOf(run),
      },
      { head: 'Run', cell: ({ workflowRunId }) => <RunId of={workflowRunId} /> },
      { head: 'Status', isNumber: true, cell: ({ responseStatus }) => statusOfRun(responseStatus) },
      { head: 'Label', labels: ({ labels }) => labels },
      { head: 'Failure function', state: ({ failureFunctionState }) => failureFunctionState },
      { head: 'Failed', time: ({ failedAt }) => failedAt },
    ]}
  >
    <Tabs place={place} of={lists} />
  </FailedList>
);
