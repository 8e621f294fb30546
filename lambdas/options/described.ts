/**
 * All options of a message with their texts for users: in the API's description, its answers, and the
 * console. A test refuses a list in which one is missing.
 */
import { nameForm } from '../shared/bounds.ts';
import * as callbacks from './callbacks.ts';
import * as circuit from './circuit.ts';
import * as deduplication from './deduplication.ts';
import * as delay from './delay.ts';
import * as failOn from './failOn.ts';
import * as flowControl from './flowControl.ts';
import * as forwarding from './forwarding.ts';
import * as hideHeaders from './hideHeaders.ts';
import * as labels from './labels.ts';
import * as method from './method.ts';
import { made, type FormFields, type Settings } from './option.ts';
import * as redaction from './redaction.ts';
import * as retries from './retries.ts';
import * as retryDelay from './retryDelay.ts';
import * as timeout from './timeout.ts';
import * as turn from './turn.ts';

const others = {
  cron: {
    description:
      'When to publish: five fields (minute, hour, day of month, month, day of week), with a time zone as in `CRON_TZ=Europe/Berlin 0 9 * * MON-FRI`, by default UTC.',
    schema: { type: 'string', minLength: 1 },
    example: '*/15 * * * *',
    scopes: ['schedule'],
  },
  'schedule-id': {
    description: 'The schedule’s id. An existing schedule with this id is replaced. Default: a random id.',
    schema: { type: 'string', pattern: nameForm },
    example: 'nightly-report',
    scopes: ['schedule'],
  },
  'catch-up': {
    description:
      'Which missed fires of the last 14 days are made up for, if the schedule was paused or its region or machine was away: `1` for the last one, `all` for the last 100. Default: none.',
    schema: { type: 'string', enum: ['1', 'all'] },
    example: '1',
    scopes: ['schedule'],
  },
  'queue-name': {
    description: 'The queue of the messages.',
    schema: { type: 'string', pattern: nameForm },
    example: 'mail',
    scopes: ['schedule'],
  },
  'workflow-runid': {
    description:
      'The run’s id, up to 256 visible characters, but not `count`. While a run with this id is active, no other is started. Default: a random id.',
    schema: { type: 'string', pattern: '^[^\\x00-\\x20\\x7f/?#%\\\\]{1,256}$' },
    example: 'wfr_order-4711',
    scopes: ['trigger'],
  },
} as const satisfies Settings;

/** All settings of a request, by canonical name. */
export const settings = /* @__PURE__ */ made(() => ({
  ...method.settings,
  ...timeout.settings,
  ...retries.settings,
  ...retryDelay.settings,
  ...delay.settings,
  ...forwarding.settings,
  ...callbacks.settings,
  ...labels.settings,
  ...flowControl.settings,
  ...turn.settings,
  ...redaction.settings,
  ...circuit.settings,
  ...hideHeaders.settings,
  ...failOn.settings,
  ...deduplication.settings,
  ...others,
}));

export type SettingName = Exclude<keyof typeof settings, `${string}*`>;

export const answered = /* @__PURE__ */ made(() => ({
  ...method.answer,
  ...forwarding.answer,
  ...retries.answer,
  ...retryDelay.answer,
  ...timeout.answer,
  ...labels.answer,
  ...flowControl.answer,
  ...turn.answer,
  ...circuit.answer,
  ...hideHeaders.answer,
  ...failOn.answer,
  ...callbacks.answer,
}));

/** The fields of forms, by canonical name, in order. */
export const fields: FormFields = /* @__PURE__ */ made(() => ({
  ...method.fields,
  ...delay.fields,
  ...timeout.fields,
  ...retries.fields,
  ...retryDelay.fields,
  ...circuit.fields,
  ...hideHeaders.fields,
  ...failOn.fields,
  'catch-up': {
    label: 'Catch up on missed fires',
    place: 'delivery',
    choices: ['1', 'all'],
    only: 'schedule',
  },
  'queue-name': { label: 'Queue', placeholder: 'orders', place: 'lane', only: 'schedule' },
  ...flowControl.fields,
  ...turn.fields,
  ...callbacks.fields,
  ...labels.fields,
  ...redaction.fields,
  ...deduplication.fields,
}));
