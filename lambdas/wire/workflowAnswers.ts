/** The shapes of answers about workflow runs; see `answers.ts`. */
import * as z from 'zod/mini';
import { failureFunctionStates, stepStates, runStates, stepTypes, callTypes } from './states.ts';
import { headerLists, text, whole } from '../options/option.ts';
import { body, cursor, dlqId, listedDeadLetter, messageId, published, time } from './answers.ts';

const runId = text('The run’s id. It may have been used before: with the start, it names one run.');
const runCreatedAt = time('When the run was started.');

const run = { workflowRunId: runId, workflowCreatedAt: runCreatedAt };

export const startedRun = z.object({
  ...run,
  deduplicated: z.optional(
    z.literal(true).check(z.describe('A run with this id is active; this is it, and no other was started.')),
  ),
});
export const startedRuns = z.array(startedRun);

/** A run that is resumed or restarted under a new id. */
export const rerunAnswer = z.object(run);
export const rerunAnswers = z.object({
  workflowRuns: z.array(rerunAnswer),
  cursor: text('Where to go on; empty at the end.'),
});

export const cancelledRuns = z.object({ cancelled: whole('How many runs this request has cancelled.') });

export const runEntries = z
  .array(
    z.object({
      messageId,
      body: text('In base64: the initial payload, or the JSON of a step.'),
      callType: z.enum(callTypes),
    }),
  )
  .check(z.describe('All that was recorded, in order; the first is the initial payload.'));

export const waiter = z.object({
  url: text('Where the run goes on.'),
  deadline: whole('When it goes on without the event. Unix seconds.'),
  headers: headerLists('Of the request to wait; the run’s id is among them.'),
  timeoutUrl: z.optional(text('Where it goes on at the deadline.')),
  timeoutBody: z.optional(z.string()),
  timeoutHeaders: z.optional(headerLists('For the delivery at the deadline.')),
});
export const waiters = z.array(waiter);

export const notification = z.object({
  // Absent if the event is stored, or if not all fit into an answer.
  waiter: z.optional(waiter),
  messageId: published.shape.messageId,
  error: text('Why it could not be woken; empty where it was.'),
  code: z.optional(
    text('The code of the refusal, where it could not be woken, as those of requests have it.'),
  ),
  deduplicated: published.shape.deduplicated,
  workflowRunId: z.optional(runId),
  workflowCreatedAt: z.optional(runCreatedAt),
});
export const notified = z
  .array(notification)
  .check(z.describe('One for each that was woken; for a run that does not wait yet, the stored event.'));

const failureFunctionState = z.enum(failureFunctionStates);
const failedFunction = {
  responseStatus: z.optional(whole('Of its last answer; 0 where there was none.')),
  responseBody: z.optional(
    text(
      'Its last answer. Published clients answer `{"result":…}` with what the function returned, or `{}`.',
    ),
  ),
};

export const listedRunDeadLetter = z.object({
  ...listedDeadLetter.shape,
  ...run,
  workflowUrl: text('The URL that the run was started with.'),
  failureFunctionState: z.optional(
    failureFunctionState.check(z.describe('Absent where nobody is told of the failure.')),
  ),
  failureCallbackHeader: z.optional(headerLists('What the failure function’s answer had.')),
  failureCallbackInfo: z.optional(
    z.object({
      state: failureFunctionState,
      ...failedFunction,
      responseBodyBase64: z.optional(text('The same in base64, where it is not UTF-8 text.')),
      responseHeaders: z.optional(headerLists('Of its last answer.')),
    }),
  ),
});
export const runDeadLetter = z.object({ ...listedRunDeadLetter.shape, ...body });
export const runDeadLetterPage = z.object({ cursor, messages: z.array(listedRunDeadLetter) });

const attemptError = z.object({
  error: text('Why the attempt failed.'),
  body: text('Of the answer.'),
  headers: headerLists('Of the answer.'),
  status: whole('Of the answer; 0 where there was none.'),
  time: time('When the attempt failed.'),
});
const errors = z.optional(z.array(attemptError).check(z.describe('Attempts that failed, oldest first.')));
const nextDeliveryTime = z.optional(time('When the next attempt is made.'));
const delivered = {
  messageId,
  retries: whole('How often a failed delivery is retried.'),
  retryDelay: z.optional(text('As `Svc-Retry-Delay` has it.')),
  state: z.enum(stepStates),
  nextDeliveryTime,
  errors,
};

const refusal = z
  .object({
    code: text('As in the body of an error.'),
    message: z.string(),
    time: time('When it was refused; of a run that failed by it, when the run failed.'),
  })
  .check(z.describe('A request of the endpoint that the service refused for good.'));

export const runRequest = z.object({
  messageId,
  retried: whole('The retries before this attempt: 0 for attempt 1.'),
  startedAt: time('When it was sent.'),
  endedAt: time('When its outcome was recorded.'),
  status: whole('Of the answer; 0 where there was none.'),
  error: z.optional(text('Why it failed; absent where it did not.')),
  submitted: z
    .array(z.string())
    .check(z.describe('The names of the steps that the endpoint submitted meanwhile.')),
  returned: z.optional(z.literal(true).check(z.describe('The function returned, which ended the run.'))),
  refusal: z.optional(refusal),
});

const hangingRun = z
  .object({
    since: time('Nothing has been pending since.'),
    messageId: z.optional(messageId),
    requestedAt: z.optional(time('When the last request to the endpoint was sent.')),
    status: z.optional(whole('Of the answer to it.')),
    refusal: z.optional(refusal),
  })
  .check(
    z.describe(
      'Present where the run is active, but no delivery of it is pending or in flight, nothing is awaited, and nothing was submitted for a minute: its endpoint answered, and submitted nothing. It does not go on by itself.',
    ),
  );

export const runStep = z.object({
  stepId: z.optional(whole('Its position, counted from 1; absent for the initial payload.')),
  stepName: z.string(),
  stepType: z.enum(stepTypes),
  callType: z
    .enum(callTypes)
    .check(z.describe('Of a call `toCallback`, and `fromCallback` once it is answered.')),
  concurrent: whole('Branches of its parallel group; 1 for a step by itself.'),
  ...delivered,
  createdAt: time('When it was recorded.'),
  kept: z.optional(
    z
      .literal(true)
      .check(
        z.describe(
          'It was made in the run of `resumedFrom`, and not again. `createdAt` is that of the resume.',
        ),
      ),
  ),
  headers: headerLists('Those forwarded with its delivery, and the content type.'),
  out: z.optional(text('Its result; absent while there is none.')),
  sleepFor: z.optional(whole('Milliseconds.')),
  sleepUntil: z.optional(time('When it goes on.')),
  waitEventId: z.optional(z.string()),
  waitTimeoutDuration: z.optional(text('As the user wrote it, such as `7d`.')),
  waitTimeoutDeadline: z.optional(time('When it goes on without the event.')),
  waitTimeout: z.optional(z.boolean().check(z.describe('Whether it went on without the event.'))),
  callUrl: z.optional(z.string()),
  callMethod: z.optional(z.string()),
  callHeaders: z.optional(headerLists('Of the request to the third party.')),
  callBody: z.optional(z.string()),
  callResponseStatus: z.optional(whole('0 where there was no answer.')),
  callResponseBody: z.optional(z.string()),
  callResponseHeaders: z.optional(headerLists('Of the third party’s answer.')),
  invokedWorkflowRunId: z.optional(z.string()),
  invokedWorkflowUrl: z.optional(z.string()),
  invokedWorkflowCreatedAt: z.optional(time('When the invoked run was started.')),
  invokedWorkflowRunBody: z.optional(z.string()),
  invokedWorkflowRunHeaders: z.optional(headerLists('Of the invoked run.')),
});

export const nextStep = z.object({
  ...delivered,
  stepName: z.optional(text('The step whose function threw last.')),
});

export const stepGroup = z.union([
  z.object({ type: z.literal('sequential'), steps: z.array(runStep) }),
  z.object({ type: z.literal('parallel'), steps: z.array(runStep) }),
  z.object({
    type: z.literal('next').check(z.describe('The delivery that is to bring the next step.')),
    steps: z.array(nextStep),
  }),
]);

export const failureFunction = z.object({
  messageId,
  url: text('Where the failure is told.'),
  state: failureFunctionState,
  failHeaders: headerLists('Of the last answer to the delivery that failed.'),
  failStatus: whole('Of the same; 0 where there was none.'),
  failResponse: text('The body of the same.'),
  dlqId,
  errors,
  ...failedFunction,
  responseHeaders: z.optional(headerLists('Of its last answer.')),
  maxRetries: z.optional(whole('How often its delivery is tried again.')),
  nextDeliveryTime,
});

const runInTime = z.object({ workflowRunId: z.string(), workflowRunCreatedAt: runCreatedAt });

export const workflowRun = z.object({
  workflowRunId: runId,
  workflowUrl: text('The URL that it was started with.'),
  workflowState: z.enum(runStates),
  workflowRunCreatedAt: runCreatedAt,
  workflowRunCompletedAt: z.optional(time('When it ended.')),
  workflowRunResponse: z.optional(text('What the function returned, as JSON.')),
  workflowRunCallerIp: z.optional(text('The address it was started from.')),
  invoker: z.optional(
    z
      .object({ workflowRunId: z.string(), workflowUrl: z.string(), workflowRunCreatedAt: runCreatedAt })
      .check(z.describe('The run that waits for this one.')),
  ),
  resumedFrom: z.optional(
    runInTime.check(z.describe('The run that it was made from, by a resume or a restart.')),
  ),
  resumedAs: z.optional(
    runInTime.check(z.describe('The run that was made from it after it had failed, or while it hung.')),
  ),
  failureFunction: z.optional(failureFunction),
  dlqId: z.optional(dlqId),
  label: z.optional(text('The first of its labels.')),
  labels: z.optional(z.array(z.string())),
  flowControlKey: z.optional(z.string()),
  hanging: z.optional(hangingRun),
  requests: z.optional(
    z
      .array(runRequest)
      .check(
        z.describe(
          'The requests to its endpoint that have ended, oldest first: the last 1,000 at most. Present where the request names the run by `workflowRunId`.',
        ),
      ),
  ),
  steps: z.array(stepGroup).check(z.describe('In order; the first is the initial payload.')),
});
export const runPage = z.object({
  cursor: text('Where to go on; empty at the end.'),
  runs: z.array(workflowRun),
});
