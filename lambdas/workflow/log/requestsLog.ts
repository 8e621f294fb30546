import type { Answer } from '../../wire/answers.ts';
import type * as answers from '../../wire/workflowAnswers.ts';
import { now } from '../../shared/clock.ts';
import type { EndRecord } from '../rules/journal.ts';
import type { RunJournal } from '../runs/loadRun.ts';
import { loadRefusal, type Refusal } from '../store/lastRefusals.ts';
import { cutter, type Cut } from './rules/cutting.ts';
import { hangingOf, type Hanging } from './rules/hanging.ts';
import { requestsOf } from './rules/requests.ts';
import type { FailedAttempt, RunMessage, ShownRequest } from './rules/runMessage.ts';
import { refusalIn } from './runHistories.ts';

type ShownRun = Answer<typeof answers.workflowRun>;

/** The log shows only this many requests, the newest. */
const mostRequests = 1_000;

const shownRefusal = (refusal: Refusal | undefined): ShownRequest['refusal'] =>
  refusal && { code: refusal.code, message: refusal.message, time: refusal.at };

function shownHanging(hanging: Hanging | undefined, refusal: ShownRequest['refusal']): ShownRun['hanging'] {
  if (hanging === undefined) return undefined;
  const { since, last } = hanging;
  return { since, messageId: last?.messageId, requestedAt: last?.startedAt, status: last?.status, refusal };
}

/**
 * @param failure the failure that ended the run, unless it is of one of its messages
 * @returns a function that makes the list of requests to the endpoint, and the reason why the run hangs,
 * shortened
 */
export async function loadShownRequests(
  { key, snapshot, records }: RunJournal,
  messages: readonly RunMessage[],
  end: EndRecord | undefined,
  failure: FailedAttempt | undefined,
  hasRequests: boolean,
): Promise<(cut: Cut) => Pick<ShownRun, 'hanging' | 'requests'>> {
  const refusal = shownRefusal(
    refusalIn(end, failure) ??
      (hasRequests && end === undefined ? await loadRefusal(key, snapshot.startSeq) : undefined),
  );
  const hanging = shownHanging(hangingOf(snapshot, records, messages, now()), refusal);
  const requests = hasRequests ? requestsOf(messages, records, refusal).slice(-mostRequests) : undefined;
  return (cut) => {
    const { text } = cutter(cut);
    const withRefusal = <T extends Pick<ShownRequest, 'refusal'>>(one: T): T => ({
      ...one,
      refusal: one.refusal && { ...one.refusal, message: text(one.refusal.message) },
    });
    return {
      hanging: hanging && withRefusal(hanging),
      requests: requests?.map((request) => withRefusal({ ...request, error: text(request.error) })),
    };
  };
}
