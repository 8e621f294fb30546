import { groupedBy } from '../../rules/grouped.ts';
import type { JournalRecord } from '../../rules/journal.ts';
import type { StepIdentity } from '../../rules/step.ts';
import type { MadeRequest, RunMessage, ShownRequest } from './runMessage.ts';

/**
 * The recorded requests to the endpoint, in the order in which they ended. A call is a request to a third
 * party, but its answer is delivered to the endpoint.
 */
export const madeRequests = (messages: readonly RunMessage[]): readonly MadeRequest[] =>
  messages
    .flatMap((message) => (message.kind === 'call' ? message.callback?.requests : message.requests) ?? [])
    .toSorted((one, other) => one.endedAt - other.endedAt);

interface Submission {
  /** The message whose delivery this request was. */
  readonly messageId: string;
  readonly at: number;
  /** Undefined if the function returned. */
  readonly stepName: string | undefined;
}

/**
 * Finds the delivery in which each step was submitted. A single step is submitted in the delivery of the
 * entry before it, a branch in the delivery of its plan, and a call's result in the delivery of the answer.
 * Results of waits and invokes come from this service.
 */
function submissionsOf(
  messages: readonly RunMessage[],
  records: readonly JournalRecord[],
): readonly Submission[] {
  const answers = new Map(
    messages.flatMap(({ step, callback }) =>
      callback === undefined ? [] : [[step.stepId, callback.messageId] as const],
    ),
  );
  const plans = new Map<number, string>();
  const endedByService = new Set<number>();
  const found: Submission[] = [];
  let newest = '';
  const bringerOf = ({ stepId, concurrent }: StepIdentity): string =>
    (concurrent > 1 ? plans.get(stepId) : undefined) ?? newest;
  for (const record of records) {
    switch (record.kind) {
      case 'start':
        newest = record.entry.messageId;
        break;
      case 'upgrade':
        newest = record.messageId;
        break;
      case 'steps':
        for (const { step, messageId, createdAt } of record.entries) {
          if (step === undefined) continue;
          const { stepId, stepName } = step;
          const submission = { at: createdAt, stepName };
          const isSubmitted = record.isCopy !== true;
          if (step.kind === 'plan') {
            if (isSubmitted) found.push({ messageId: newest, ...submission });
            plans.set(stepId, messageId);
          } else {
            const bringer = answers.get(stepId) ?? bringerOf(step);
            if (isSubmitted && !endedByService.has(stepId)) found.push({ messageId: bringer, ...submission });
            newest = messageId;
          }
        }
        break;
      case 'call':
        found.push({ messageId: bringerOf(record.step), at: record.at, stepName: record.step.stepName });
        break;
      case 'wait':
      case 'invoke':
        found.push({ messageId: bringerOf(record.step), at: record.at, stepName: record.step.stepName });
        endedByService.add(record.step.stepId);
        break;
      case 'end':
        if (record.state === 'RUN_SUCCESS')
          found.push({ messageId: newest, at: record.at, stepName: undefined });
        break;
      case 'settings':
      case 'event':
      case 'failureFunction':
      case 'lateResult':
      case 'kept':
        break;
      default:
        record satisfies never;
    }
  }
  return found;
}

/** Finds the request that was open at a moment. */
const openAt = (requests: readonly MadeRequest[], at: number): MadeRequest | undefined =>
  requests.find(({ endedAt }) => endedAt >= at) ?? requests.at(-1);

export function requestsOf(
  messages: readonly RunMessage[],
  records: readonly JournalRecord[],
  refusal: ShownRequest['refusal'],
): readonly ShownRequest[] {
  const requests = madeRequests(messages);
  const byMessage = groupedBy(requests, ({ messageId }) => messageId);
  const brought = groupedBy(submissionsOf(messages, records), ({ messageId, stepName, at }) =>
    // A function may return in the same delivery in which its last step was submitted. Then the step has no
    // delivery.
    openAt(byMessage.get(messageId) ?? (stepName === undefined ? requests : []), at),
  );
  const refused = refusal && openAt(requests, refusal.time);
  return requests.map((request): ShownRequest => {
    const own = brought.get(request) ?? [];
    return {
      ...request,
      submitted: own.flatMap(({ stepName }) => stepName ?? []),
      returned: own.some(({ stepName }) => stepName === undefined) ? true : undefined,
      refusal: request === refused ? refusal : undefined,
    };
  });
}
