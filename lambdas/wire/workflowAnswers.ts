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
  cursor: text('The cursor of the next page; empty on the last page.'),
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
  url: text('The URL at which the run continues.'),
  deadline: whole('When it continues without the event, in Unix seconds.'),
  headers: headerLists('The headers of the request to wait, which include the run’s id.'),
  timeoutUrl: z.optional(text('The URL at which it continues at the deadline.')),
  timeoutBody: z.optional(z.string()),
  timeoutHeaders: z.optional(headerLists('For the delivery at the deadline.')),
});
export const waiters = z.array(waiter);

export const notification = z.object({
  // Missing if the event was stored, or if not all waiters fit into an answer.
  waiter: z.optional(waiter),
  messageId: published.shape.messageId,
  error: text('Why it could not be woken; empty if it was woken.'),
  code: z.optional(text('If it could not be woken, the code of the error, as in the answer to a request.')),
  deduplicated: published.shape.deduplicated,
  workflowRunId: z.optional(runId),
  workflowCreatedAt: z.optional(runCreatedAt),
});
export const notified = z
  .array(notification)
  .check(z.describe('One for each that was woken; for a run that does not wait yet, the stored event.'));

const failureFunctionState = z.enum(failureFunctionStates);
const failedFunction = {
  responseStatus: z.optional(whole('The status of its last answer; 0 if there was no answer.')),
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
    failureFunctionState.check(z.describe('Absent if the failure is not reported.')),
  ),
  failureCallbackHeader: z.optional(headerLists('The headers of the failure function’s answer.')),
  failureCallbackInfo: z.optional(
    z.object({
      state: failureFunctionState,
      ...failedFunction,
      responseBodyBase64: z.optional(text('The same in base64 if it is not UTF-8 text.')),
      responseHeaders: z.optional(headerLists('The headers of its last answer.')),
    }),
  ),
});
export const runDeadLetter = z.object({ ...listedRunDeadLetter.shape, ...body });
export const runDeadLetterPage = z.object({ cursor, messages: z.array(listedRunDeadLetter) });

const attemptError = z.object({
  error: text('Why the attempt failed.'),
  body: text('The body of the answer.'),
  headers: headerLists('The headers of the answer.'),
  status: whole('The status of the answer; 0 if there was no answer.'),
  time: time('When the attempt failed.'),
});
const errors = z.optional(z.array(attemptError).check(z.describe('Attempts that failed, oldest first.')));
const nextDeliveryTime = z.optional(time('When the next attempt is made.'));
const delivered = {
  messageId,
  retries: whole('How often a failed delivery is retried.'),
  retryDelay: z.optional(text('The retry delay, in the form of `Svc-Retry-Delay`.')),
  state: z.enum(stepStates),
  nextDeliveryTime,
  errors,
};

const refusal = z
  .object({
    code: text('The code, as in the body of an error.'),
    message: z.string(),
    time: time('When it was refused. If the run failed because of it, when the run failed.'),
  })
  .check(z.describe('A request from the endpoint that the service refused permanently.'));

export const runRequest = z.object({
  messageId,
  retried: whole('The retries before this attempt: 0 for attempt 1.'),
  startedAt: time('When it was sent.'),
  endedAt: time('When its outcome was recorded.'),
  status: whole('The status of the answer; 0 if there was no answer.'),
  error: z.optional(text('Why it failed; absent if it did not fail.')),
  submitted: z
    .array(z.string())
    .check(z.describe('The names of the steps that the endpoint submitted before it answered.')),
  returned: z.optional(z.literal(true).check(z.describe('The function returned, which ended the run.'))),
  refusal: z.optional(refusal),
});

const hangingRun = z
  .object({
    since: time('Nothing has been pending since.'),
    messageId: z.optional(messageId),
    requestedAt: z.optional(time('When the last request to the endpoint was sent.')),
    status: z.optional(whole('The status of the answer to that request.')),
    refusal: z.optional(refusal),
  })
  .check(
    z.describe(
      'Present if the run hangs: it is active, but it has had no pending delivery, no wait and no new step for a minute, because its endpoint answered without submitting a step. The run does not continue by itself.',
    ),
  );

export const runStep = z.object({
  stepId: z.optional(whole('Its position, counted from 1; absent for the initial payload.')),
  stepName: z.string(),
  stepType: z.enum(stepTypes),
  callType: z
    .enum(callTypes)
    .check(z.describe('Only for a call: `toCallback`, and `fromCallback` once it is answered.')),
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
  headers: headerLists('The headers that are forwarded with its delivery, and the content type.'),
  out: z.optional(text('Its result; absent until there is one.')),
  sleepFor: z.optional(whole('Milliseconds.')),
  sleepUntil: z.optional(time('When it continues.')),
  waitEventId: z.optional(z.string()),
  waitTimeoutDuration: z.optional(text('The timeout as the user wrote it, such as `7d`.')),
  waitTimeoutDeadline: z.optional(time('When it continues without the event.')),
  waitTimeout: z.optional(z.boolean().check(z.describe('Whether it continued without the event.'))),
  callUrl: z.optional(z.string()),
  callMethod: z.optional(z.string()),
  callHeaders: z.optional(headerLists('The headers of the request to the third party.')),
  callBody: z.optional(z.string()),
  callResponseStatus: z.optional(whole('The status of the answer; 0 if there was no answer.')),
  callResponseBody: z.optional(z.string()),
  callResponseHeaders: z.optional(headerLists('The headers of the third party’s answer.')),
  invokedWorkflowRunId: z.optional(z.string()),
  invokedWorkflowUrl: z.optional(z.string()),
  invokedWorkflowCreatedAt: z.optional(time('When the invoked run was started.')),
  invokedWorkflowRunBody: z.optional(z.string()),
  invokedWorkflowRunHeaders: z.optional(headerLists('The headers of the invoked run.')),
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
  url: text('The URL to which the failure is reported.'),
  state: failureFunctionState,
  failHeaders: headerLists('The headers of the last answer to the failed delivery.'),
  failStatus: whole('The status of that answer; 0 if there was no answer.'),
  failResponse: text('The body of that answer.'),
  dlqId,
  errors,
  ...failedFunction,
  responseHeaders: z.optional(headerLists('The headers of its last answer.')),
  maxRetries: z.optional(whole('How often its delivery is retried.')),
  nextDeliveryTime,
});

const runInTime = z.object({ workflowRunId: z.string(), workflowRunCreatedAt: runCreatedAt });

export const workflowRun = z.object({
  workflowRunId: runId,
  workflowUrl: text('The URL that it was started with.'),
  workflowState: z.enum(runStates),
  workflowRunCreatedAt: runCreatedAt,
  workflowRunCompletedAt: z.optional(time('When it ended.')),
  workflowRunResponse: z.optional(text('The result of the function, as JSON.')),
  workflowRunCallerIp: z.optional(text('The address it was started from.')),
  invoker: z.optional(
    z
      .object({ workflowRunId: z.string(), workflowUrl: z.string(), workflowRunCreatedAt: runCreatedAt })
      .check(z.describe('The run that waits for this one.')),
  ),
  resumedFrom: z.optional(
    runInTime.check(z.describe('The run that this one was created from, by a resume or a restart.')),
  ),
  resumedAs: z.optional(
    runInTime.check(z.describe('The run that was created from this one after it failed, or while it hung.')),
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
          'The requests to its endpoint that have ended, oldest first: the last 1,000 at most. Present if the request names the run by `workflowRunId`.',
        ),
      ),
  ),
  steps: z.array(stepGroup).check(z.describe('In order; the first is the initial payload.')),
});
export const runPage = z.object({
  cursor: text('The cursor of the next page; empty on the last page.'),
  runs: z.array(workflowRun),
});
