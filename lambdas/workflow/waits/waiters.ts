/** Those who wait for an event, as their account sees them. */
import type { Answer } from '../../wire/answers.ts';
import type * as answers from '../../wire/workflowAnswers.ts';
import { secondMs } from '../../shared/clock.ts';
import { shownUrl } from '../../shared/urlCredentials.ts';
import { shownHeaders } from '../../shared/headers.ts';
import type { WaitRecord } from '../rules/journal.ts';

export type ShownWaiter = Answer<typeof answers.waiter>;

export const waiterRecord = (wait: WaitRecord): ShownWaiter => ({
  url: shownUrl(wait.url),
  deadline: Math.ceil(wait.deadline / secondMs),
  headers: shownHeaders(wait.headers),
  timeoutUrl: shownUrl(wait.timeoutUrl),
  timeoutHeaders: shownHeaders(wait.timeoutHeaders),
});
