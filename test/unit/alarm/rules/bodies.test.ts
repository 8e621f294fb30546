import * as z from 'zod/mini';
import { describe, expect, it } from 'vitest';
import { bodyOf, type AlarmMessage } from '../../../../lambdas/alarm/rules/bodies.ts';
import { alarmMessage } from '../../../../lambdas/wire/alarms.ts';

const openedAt = Date.parse('2026-01-10T12:00:00Z');
const open: AlarmMessage = {
  id: 'msg_1',
  state: 'open',
  kind: 'hosts',
  subject: 'api.example.com',
  title: 'The host api.example.com fails',
  detail: 'Its last 12 attempts have failed <&>.',
  openedAt,
  account: 'acme',
  region: 'eu-central-1',
};
const over: AlarmMessage = { ...open, state: 'over', detail: 'It lasted 25 min.', overAt: openedAt + 1 };
const { kind: _, ...unkind } = open;
const test: AlarmMessage = { ...unkind, state: 'test', subject: '' };

const slackShape = z.object({
  blocks: z.array(z.object({ text: z.optional(z.object({ text: z.string() })) })),
});

const read = (...of: Parameters<typeof bodyOf>): unknown => JSON.parse(bodyOf(...of));

describe('a message to Slack', () => {
  it('has a line for notifications and blocks, with Slack’s special characters escaped', () => {
    expect(read('slack', undefined, open)).toEqual({
      text: ':red_circle: The host api.example.com fails',
      blocks: [
        {
          type: 'section',
          text: {
            type: 'mrkdwn',
            text: ':red_circle: *The host api.example.com fails*\nIts last 12 attempts have failed &lt;&amp;&gt;.',
          },
        },
        {
          type: 'context',
          elements: [
            {
              type: 'mrkdwn',
              text: `Since <!date^${openedAt / 1_000}^{date_short_pretty} {time}|2026-01-10T12:00:00.000Z> · account acme · eu-central-1`,
            },
          ],
        },
      ],
    });
  });

  it('says that an alarm is over, and fits into a block with any texts', () => {
    expect(read('slack', undefined, over)).toMatchObject({
      text: ':large_green_circle: Over: The host api.example.com fails',
    });
    const long = { ...open, title: '&'.repeat(10_000), detail: '<'.repeat(10_000) };
    const { blocks } = slackShape.parse(read('slack', undefined, long));
    expect(blocks[0]?.text?.text.length).toBeLessThanOrEqual(3_000);
  });
});

describe('a message to PagerDuty', () => {
  it('triggers an incident, and resolves the same incident', () => {
    const key = 'R'.repeat(32);
    expect(read('pagerduty', key, open)).toMatchObject({
      routing_key: key,
      event_action: 'trigger',
      dedup_key: 'msg_1',
      payload: {
        summary: 'The host api.example.com fails. Its last 12 attempts have failed <&>.',
        source: 'acme in eu-central-1',
        severity: 'error',
        timestamp: '2026-01-10T12:00:00.000Z',
        class: 'hosts',
        component: 'api.example.com',
      },
    });
    expect(read('pagerduty', key, over)).toMatchObject({ event_action: 'resolve', dedup_key: 'msg_1' });
    expect(read('pagerduty', key, test)).toMatchObject({
      event_action: 'trigger',
      payload: { severity: 'info', class: 'test' },
    });
  });
});

it.each([open, over, test])('a message in JSON has the documented shape', (message) => {
  expect(alarmMessage.parse(read('json', undefined, message))).toEqual(message);
});
