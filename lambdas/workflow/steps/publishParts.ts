import { type Account, refuseWhileDraining } from '../../account/account.ts';
import type { WorkflowAnswer } from '../../publish/workflows.ts';
import { eachOf } from '../../shared/lists.ts';
import { groupedBy } from '../rules/grouped.ts';
import type { StartMessage, SubmissionMessage } from '../rules/workflowMessage.ts';
import type { PublishRequest } from '../../publish/prepare.ts';
import { withCharges } from '../../usage/charge.ts';
import { submitCall } from './call.ts';
import { submitInvoke } from './invoke.ts';
import { preparePart, readParts, type PreparedPart, type WorkflowRequest } from './prepare.ts';
import { refuseWhenBusy } from '../refusedRequests.ts';
import { draftOf, startRuns, type Started } from './start.ts';
import type { Submitted } from './activeRun.ts';
import { submitSteps } from './submit.ts';

const submittedAnswer = ({ messageId, isDuplicate }: Submitted): WorkflowAnswer => ({
  messageId,
  ...(isDuplicate && { deduplicated: true }),
});

const startAnswer = ({ runId, createdAt, ...submitted }: Started): WorkflowAnswer => ({
  ...submittedAnswer(submitted),
  workflowRunId: runId,
  workflowCreatedAt: createdAt,
});

/** @throws HttpError as {@link publishParts} does; 400 for a malformed start */
export async function publishRequests(
  account: Account,
  requests: readonly PublishRequest[],
): Promise<readonly WorkflowAnswer[]> {
  return publishParts(account, await readParts(requests));
}

const atOnce = 20;

/**
 * Publishes the messages of one request. All are read before the first is accepted.
 *
 * @returns an answer for each message, in order
 * @throws HttpError as a publish does; for submissions 400 if the run has ended or is unknown
 */
export async function publishParts(
  account: Account,
  parts: readonly WorkflowRequest[],
): Promise<readonly WorkflowAnswer[]> {
  // Not counted: fires, whose schedules still exist, and upgrades, which continue a run.
  const begins = parts.some(
    ({ message, request }) => message.kind === 'start' && !message.isUpgrade && request.fire === undefined,
  );
  if (begins) refuseWhileDraining(account);
  const prepared: PreparedPart[] = [];
  await eachOf(parts, atOnce, async (part, index) => {
    prepared[index] = await preparePart(account, part);
  });
  return withCharges(account, prepared.length, async (charges) => {
    const refusal = charges.charge(prepared.length);
    if (refusal !== undefined) throw refusal;
    const answers = await refuseWhenBusy(() => acceptParts(account, prepared));
    charges.giveBack(answers.filter(({ deduplicated }) => deduplicated === true).length);
    return answers;
  });
}

const isSubmission = (part: PreparedPart): part is PreparedPart<SubmissionMessage> =>
  part.message.kind === 'submission';

const isFirst = (part: PreparedPart): part is PreparedPart<StartMessage> => part.message.kind === 'start';

async function acceptParts(
  account: Account,
  prepared: readonly PreparedPart[],
): Promise<readonly WorkflowAnswer[]> {
  const answers = new Map<PreparedPart, WorkflowAnswer>();
  // The steps of a parallel group are submitted together.
  const byRun = groupedBy(prepared.filter(isSubmission), ({ message }) => message.runId);
  for (const group of byRun.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const submitted = await submitSteps(account, first.message, group);
    for (const [index, part] of group.entries()) {
      const one = submitted[index];
      if (one !== undefined) answers.set(part, submittedAnswer(one));
    }
  }
  const starts = prepared.filter(isFirst);
  const started = await startRuns(
    account,
    starts.map((part) => draftOf(account, part)),
  );
  for (const [index, part] of starts.entries()) {
    const one = started[index];
    if (one !== undefined) answers.set(part, startAnswer(one));
  }
  await eachOf(
    prepared.filter((part) => !isSubmission(part) && !isFirst(part)),
    atOnce,
    async (part) => {
      answers.set(part, await acceptOther(account, part));
    },
  );
  return prepared.flatMap((part) => answers.get(part) ?? []);
}

async function acceptOther(account: Account, { message, ...part }: PreparedPart): Promise<WorkflowAnswer> {
  switch (message.kind) {
    case 'invoke':
      return startAnswer(await submitInvoke(account, { ...part, message }));
    case 'call':
      return submittedAnswer(await submitCall(account, { ...part, message }));
    case 'start':
    case 'submission':
    case 'callResult':
    case 'failureRequest':
      throw new Error(`A ${message.kind} was not refused when it was read, or not accepted as what it is.`);
  }
}
