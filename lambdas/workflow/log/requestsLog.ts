import type { Answer } from '../../wire/answers.ts';
import type * as answers from '../../wire/workflowAnswers.ts';
import { now } from '../../shared/clock.ts';
import type { EndRecord } from '../rules/journal.ts';
import type { Refusal } from '../rules/refusals.ts';
import type { RunJournal } from '../runs/loadRun.ts';
import { loadRefusal } from '../store/lastRefusals.ts';
import { textCut, type Cut } from './rules/cutting.ts';
import type { FailedAttempt } from './rules/errors.ts';
import { hangingOf, type Hanging } from './rules/hanging.ts';
import { requestsOf, type EndpointRequest } from './rules/requests.ts';
import type { RunMessage } from './rules/runRecord.ts';
import { refusalIn } from './runHistories.ts';

type ShownRun = Answer<typeof answers.workflowRun>;

/** Only the newest are shown. */
const mostRequests = 1_000;

const shownRefusal = (refusal: Refusal | undefined, cut: Cut) =>
  refusal && { code: refusal.code, message: textCut(cut)(refusal.message), time: refusal.at };

const shownRequest = (
  { endedAt, startedAt, hasReturned, submitted, refusal, error, ...request }: EndpointRequest,
  cut: Cut,
) => ({
  messageId: request.messageId,
  retried: request.number,
  startedAt,
  endedAt,
  status: request.status,
  error: textCut(cut)(error),
  submitted: [...submitted],
  returned: hasReturned ? (true as const) : undefined,
  refusal: shownRefusal(refusal, cut),
});

function shownHanging(hanging: Hanging | undefined, refusal: Refusal | undefined, cut: Cut) {
  if (hanging === undefined) return undefined;
  const { since, last } = hanging;
  return {
    since,
    messageId: last?.messageId,
    requestedAt: last?.startedAt,
    status: last?.status,
    refusal: shownRefusal(refusal, cut),
  };
}

/**
 * @param failure the failure that ended the run, if it belongs to none of its messages
 * @returns a function that shows the requests to the endpoint, and why the run hangs, shortened
 */
export async function loadShownRequests(
  { key, snapshot, records }: RunJournal,
  messages: readonly RunMessage[],
  end: EndRecord | undefined,
  failure: FailedAttempt | undefined,
  hasRequests: boolean,
): Promise<(cut: Cut) => Pick<ShownRun, 'hanging' | 'requests'>> {
  const refusal =
    refusalIn(end, failure) ??
    (hasRequests && end === undefined ? await loadRefusal(key, snapshot.startSeq) : undefined);
  const hanging = hangingOf(snapshot, records, messages, now());
  const requests = hasRequests ? requestsOf(messages, records, refusal).slice(-mostRequests) : undefined;
  return (cut) => ({
    hanging: shownHanging(hanging, refusal, cut),
    requests: requests?.map((request) => shownRequest(request, cut)),
  });
}
