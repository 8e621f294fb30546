import type { ArnKind } from './arnKind.ts';

/** A regular expression for the end of an ARN. */
export const resource = '([\\w-]{1,75}\\.fifo|[\\w-]{1,80})';

export const kind: ArnKind = {
  what: 'queue',
  service: 'SQS',
  one: 'an SQS queue',
  many: 'SQS queues',
  form: '<queue>',
  patterns: '[\\w.*-]+',
  action: 'sqs:SendMessage',
  isOwn: true,
};
