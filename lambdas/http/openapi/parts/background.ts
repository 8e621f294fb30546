import { bulkId } from './examples.ts';
import type { Operation } from './operation.ts';
import type { Shown } from './schemas.ts';

export const bulk: Shown<'Bulk'> = {
  bulkId,
  operation: 'messages.cancel',
  filters: 'label=nightly',
  state: 'running',
  done: 12_300,
  failed: 0,
  createdAt: 1_767_225_600_000,
  changedAt: 1_767_225_630_000,
};

export const tooManyBulks = [
  'bulk_limit_reached',
  'The account has 5 bulk operations in the background, the most at one time; send this one again when another has ended, or stop one.',
] as const;

const parameter = {
  name: 'background',
  in: 'query',
  description:
    'With `true`, the request only starts the operation, on the entries that exist now, and `/v2/bulk/{bulkId}` shows its progress. Such a request has filters, but no ids, `count` or `cursor`.',
  schema: { type: 'string', enum: ['true'] },
  example: 'true',
} as const;

export const inBackground = (operation: Operation): Operation => ({
  ...operation,
  shared: {
    ...operation.shared,
    ...(Object.keys(operation.answers).length === 0
      ? { 'bulk.onlyBackground': { ...parameter, required: true } }
      : { 'bulk.background': parameter }),
  },
  answers: {
    ...operation.answers,
    202: { description: 'It runs in the background.', schema: 'StartedBulk', example: { bulkId } },
  },
  errors: { ...operation.errors, 429: [...(operation.errors?.[429] ?? []), tooManyBulks] },
});
