import { defaultRetries, limitsOf, type Account } from '../account/account.ts';
import type { CallbackSettings } from '../message/message.ts';
import { secondMs } from '../shared/clock.ts';

export const accountCallbackSettings = (
  url: string | undefined,
  account: Account,
): CallbackSettings | undefined =>
  url === undefined
    ? undefined
    : {
        url,
        method: 'POST',
        headers: [['content-type', 'application/json']],
        maxRetries: defaultRetries(account),
        timeoutMs: limitsOf(account).timeout * secondMs,
        labels: [],
        delayMs: 0,
      };
