import { dateSchema, textSchema, valuesSchema } from '../../../wire/filterFields.ts';
import { longestPage, mostAtOnce, mostIds } from '../../../wire/filters.ts';
import { mostTrimmed, runFilterStates } from '../../../wire/workflowFilters.ts';
import { defaultPrefix } from '../../../request/dialect.ts';
import { headerName } from '../../../shared/headers.ts';
import { longestRunId } from '../../../workflow/run.ts';
import { dlqId, messageId, runId } from './examples.ts';
import {
  countParameter,
  fieldParameters,
  orderParameter,
  pagingOf,
  several,
  uncounted,
  type NamedParameters,
  type Parameter,
} from './parameters.ts';

type Filter = Pick<Parameter, 'description' | 'schema' | 'example'>;

const own = (parameters: Readonly<Record<string, Filter>>, kind: string): NamedParameters =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, one]) => [
      `${kind}.${name}`,
      { name, in: 'query' as const, ...one },
    ]),
  );

export const ofDeadLetters: NamedParameters = { ...fieldParameters('deadRuns'), ...pagingOf('dlq') };

export const ofManyDeadLetters: NamedParameters = {
  ...uncounted(ofDeadLetters),
  ...countParameter('deadRuns'),
  ...orderParameter,
  ...own(
    {
      dlqIds: {
        description: `Up to ${mostIds} ids of dead letters, repeated or separated by commas. Other filters are then ignored.`,
        schema: { type: 'array', items: valuesSchema },
        example: [dlqId],
      },
    },
    'filter',
  ),
};

export const ofLogs: NamedParameters = {
  ...fieldParameters('runs'),
  ...own(
    {
      workflowRunId: { description: 'The run’s id.', schema: textSchema, example: runId },
      workflowCreatedAt: {
        description: 'When the run was started: it distinguishes runs with the same id. Unix milliseconds.',
        schema: dateSchema,
        example: 1_767_225_600_000,
      },
      state: {
        description:
          'The state of the run, or of one of its steps. `RUN_HANGING`, `RUN_SLEEPING` and `RUN_WAITING` select active runs that hang, that have a sleeping step, or that wait for an event or a webhook.',
        schema: { type: 'string', enum: runFilterStates },
        example: 'RUN_FAILED',
      },
      messageId: {
        description: 'The id of one of the run’s messages.',
        schema: valuesSchema,
        example: messageId,
      },
      workflowRuns: {
        description:
          'Runs, each as its id, `@` and its start in Unix milliseconds. Other filters are then ignored. ' +
          several,
        schema: { type: 'array', items: { type: 'string', pattern: '^[^,]*[^,\\s][^,]*@\\d{1,15}$' } },
        example: [`${runId}@1767225600000`],
      },
      trimBody: {
        description: 'How many bytes of each body are shown; −1 shows none. Default: all.',
        schema: { type: 'integer', minimum: -1, maximum: mostTrimmed },
        example: 1_024,
      },
      groupBy: {
        description: '`workflowRunId`, as clients send it. The answer is grouped by it anyway.',
        schema: { type: 'string', enum: ['workflowRunId'] },
        example: 'workflowRunId',
      },
    },
    'runs',
  ),
  // A run is larger than a log entry, so a page is as long as one of dead letters.
  ...pagingOf('dlq'),
};

const { 'page.fromDate': fromDate, 'page.toDate': toDate, 'page.cursor': cursor } = pagingOf('logs');

export const ofCancelledRuns: NamedParameters = {
  ...own(
    {
      workflowRunIds: {
        description: `Up to ${mostIds} ids of runs, repeated or separated by commas. Other filters are then ignored. Runs that have ended are skipped.`,
        schema: { type: 'array', items: valuesSchema },
        example: [runId],
      },
      workflowUrl: {
        description: `The beginning of the URL that the run was started with. ${several}`,
        schema: { type: 'array', items: textSchema },
        example: ['https://example.com/'],
      },
      workflowUrlExactMatch: {
        description: 'Whether `workflowUrl` is the whole URL. Default: `false`.',
        schema: { type: 'boolean' },
        example: true,
      },
      count: {
        description: `The most runs that one request cancels, by default ${longestPage}.`,
        schema: { type: 'integer', minimum: 1, maximum: mostAtOnce.messages },
        example: 20,
      },
    },
    'cancel',
  ),
  ...fieldParameters('runs', ['host', 'path', 'label', 'flowControlKey', 'callerIp']),
  ...(fromDate && { 'page.fromDate': fromDate }),
  ...(toDate && { 'page.toDate': toDate }),
};

export const ofCountedRuns: NamedParameters = {
  ...uncounted(ofCancelledRuns),
  ...(cursor && { 'page.cursor': cursor }),
};

export const ofSubmissions: NamedParameters = {
  'submission.init': {
    name: headerName(defaultPrefix, 'workflow-init'),
    in: 'header',
    description: '`false`: it belongs to a run.',
    required: true,
    schema: { type: 'string', enum: ['false'] },
    example: 'false',
  },
  'submission.runId': {
    name: headerName(defaultPrefix, 'workflow-runid'),
    in: 'header',
    description: 'The run’s id.',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: longestRunId },
    example: runId,
  },
};
