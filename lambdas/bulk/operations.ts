import type { Account } from '../account/account.ts';
import { deleteDeadLetters } from '../deadLetter/deadLetters.ts';
import type { HttpError } from '../error/httpError.ts';
import { cancelMessages } from '../publish/cancel.ts';
import { publishEach } from '../publish/publishEach.ts';
import { retryDeadLetters } from '../publish/retryDeadLetters.ts';
import type { Header } from '../shared/headers.ts';
import { derivedId } from '../shared/ids.ts';
import type { BulkOperation } from '../wire/bulkAnswers.ts';
import { parseFilter } from '../wire/filters.ts';
import { cancelNamed } from '../workflow/cancelRuns.ts';
import { deleteRunDeadLetters } from '../workflow/deadLetters.ts';
import { restartRuns, resumeRuns } from '../workflow/resume.ts';
import type { Bulk } from './store/rows.ts';

export interface Answered {
  readonly cancelled?: number;
  readonly deleted?: number;
  readonly responses?: readonly unknown[];
  readonly workflowRuns?: readonly unknown[];
  readonly cursor?: string | undefined;
  /** Entries that are left to do; undefined if this is unknown. */
  readonly left?: readonly string[];
  readonly refusal?: HttpError | undefined;
}

interface Operation {
  /** Entries in a step. A step takes seconds, so that others get their turn and few bodies are in memory. */
  readonly atOnce: number;
  readonly request: (account: Account, ids: readonly Header[], bulk: Bulk) => Promise<Answered>;
}

export const operations: Readonly<Record<BulkOperation, Operation>> = {
  'messages.cancel': {
    atOnce: 100,
    request: (account, ids) => cancelMessages(account, parseFilter('messages', ids)),
  },
  'messages.publish': {
    atOnce: 20,
    request: (account, _ids, { bulkId, begunAt = 0, ids, ...request }) =>
      publishEach(account, ids, request, (id) => derivedId('msg', begunAt, `${bulkId}/${id}`, id)),
  },
  'dlq.retry': {
    atOnce: 20,
    request: (account, ids, bulk) => retryDeadLetters(account, parseFilter('dlq', ids), bulk),
  },
  'dlq.delete': {
    atOnce: 100,
    request: (account, ids) => deleteDeadLetters(account, parseFilter('dlq', ids)),
  },
  'runs.cancel': {
    atOnce: 100,
    request: async (account, _ids, { ids }) => ({ cancelled: await cancelNamed(account, ids), left: [] }),
  },
  'runDlq.resume': { atOnce: 20, request: resumeRuns },
  'runDlq.restart': { atOnce: 20, request: restartRuns },
  'runDlq.delete': { atOnce: 100, request: deleteRunDeadLetters },
};
