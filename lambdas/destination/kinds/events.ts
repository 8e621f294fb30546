import type { ArnKind } from './arnKind.ts';

/** A regular expression for the end of an ARN. */
export const resource = 'event-bus/[\\w.-]{1,256}';

export const kind: ArnKind = {
  what: 'bus',
  service: 'EventBridge',
  one: 'an EventBridge bus',
  many: 'EventBridge buses',
  form: 'event-bus/<name>',
  patterns: 'event-bus/[\\w.*-]+',
  action: 'events:PutEvents',
  isOwn: false,
};
