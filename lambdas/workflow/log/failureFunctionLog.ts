import type { Answer } from '../../wire/answers.ts';
import type * as answers from '../../wire/workflowAnswers.ts';
import { shownUrl } from '../../shared/urlCredentials.ts';
import { shownHeaders } from '../../shared/headers.ts';
import type { EndRecord } from '../rules/journal.ts';
import { cutter, type Cut } from './rules/cutting.ts';
import { loadRunHistories } from '../../message/runHistories.ts';
import { historyOf } from './runHistories.ts';
import type { RunJournal } from '../runs/loadRun.ts';
import type { RunView } from './runView.ts';

/**
 * @returns a function that makes the log of the failure function, shortened; undefined if the failure is not
 * reported, or the endpoint has no failure function
 */
export async function loadShownFailureFunction(
  view: RunView,
  { key, start, snapshot, records }: RunJournal,
  end: EndRecord | undefined,
): Promise<((cut: Cut) => Answer<typeof answers.failureFunction>) | undefined> {
  const failure = end?.failure;
  const state = snapshot.failureState;
  if (failure?.requestId === undefined || state === undefined) return undefined;
  // The failure function may have been run again, by another message.
  const again = records.findLast((record) => record.kind === 'failureFunction');
  const messageId = again?.messageId ?? failure.requestId;
  const recorded = (await loadRunHistories(key.accountId, [messageId])).get(messageId) ?? {
    attempts: [],
    end: undefined,
  };
  const { failures, nextDeliveryAt } = historyOf(view, messageId, recorded);
  const last = recorded.attempts.at(-1);
  // Not shortened, because the published client wraps the function's return value.
  const answer = last?.response.body;
  const responseBody = answer === undefined || answer.length === 0 ? undefined : view.text(answer);
  const responseHeaders = last && shownHeaders(view.headers(last.response.headers));
  const failHeaders = shownHeaders(view.headers(failure.response.headers));
  const failResponse = view.text(failure.response.body) ?? '';

  return (cut) => {
    const { text, headers, failures: shortened } = cutter(cut);
    return {
      messageId,
      url: shownUrl(start.failureCallback?.url ?? start.url),
      state,
      failStatus: failure.response.status,
      failHeaders: headers(failHeaders),
      failResponse: text(failResponse),
      dlqId: failure.dlqId,
      errors: failures.length === 0 ? undefined : shortened(failures),
      responseStatus: last?.response.status,
      responseHeaders: headers(responseHeaders),
      responseBody: text(responseBody),
      maxRetries: (start.failureCallback ?? start.settings).maxRetries,
      nextDeliveryTime: nextDeliveryAt,
    };
  };
}
