import * as z from 'zod/mini';
import { idPattern } from '../shared/idPattern.ts';
import { oneOf, text, whole } from '../options/option.ts';
import type { AuditAction } from './auditActions.ts';

/** The operations that can run in the background, by their names in the audit trail. */
export const bulkOperations = [
  'messages.cancel',
  'messages.publish',
  'dlq.retry',
  'dlq.delete',
  'runs.cancel',
  'runDlq.resume',
  'runDlq.restart',
  'runDlq.delete',
] as const satisfies readonly AuditAction[];
export type BulkOperation = (typeof bulkOperations)[number];

export const startedBulk = z.object({ bulkId: z.string().check(z.regex(new RegExp(`^blk_${idPattern}$`))) });

export const bulk = z.object({
  ...startedBulk.shape,
  operation: oneOf(bulkOperations, 'The action, as in the audit trail.'),
  filters: text('The filters of the request, without values that may contain secrets.'),
  state: z.enum(['running', 'done', 'stopped', 'failed']),
  done: whole('Entries that were cancelled, deleted, sent, published or started again.'),
  failed: whole('Entries with which that failed. They are still there.'),
  error: z.optional(z.object({ code: z.string(), error: z.string() }).check(z.describe('Why it failed.'))),
  createdAt: whole('When it was requested. Later entries are left alone. Unix milliseconds.'),
  changedAt: whole('When its last step began or ended. Unix milliseconds.'),
});

export const bulks = z.object({ operations: z.array(bulk) });
