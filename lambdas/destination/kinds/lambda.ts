import type { ArnKind } from './arnKind.ts';

/** A regular expression for the end of an ARN. An alias has at most 128 characters. */
export const resource = 'function:[\\w-]{1,64}(:(\\$LATEST|[\\w-]{1,128}))?';

export const kind: ArnKind = {
  what: 'function',
  service: 'Lambda',
  one: 'a Lambda function',
  many: 'Lambda functions',
  form: 'function:<name>[:<alias or version>]',
  patterns: 'function:[\\w:$*-]+',
  action: 'lambda:InvokeFunction',
  isOwn: true,
};
