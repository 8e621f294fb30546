import type { ArnKind } from './arnKind.ts';

/** A regular expression for the end of an ARN. */
export const resource = '([\\w-]{1,251}\\.fifo|[\\w-]{1,256})';

export const kind: ArnKind = {
  what: 'topic',
  service: 'SNS',
  one: 'an SNS topic',
  many: 'SNS topics',
  form: '<topic>',
  patterns: '[\\w.*-]+',
  action: 'sns:Publish',
  isOwn: true,
};
