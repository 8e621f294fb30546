import type { Answer } from '../../wire/answers.ts';
import { kindTable, type alarmMessage, type AlarmFormat } from '../../wire/alarms.ts';
import { secondMs } from '../../shared/clock.ts';

export type AlarmMessage = Answer<typeof alarmMessage>;

/** Escapes the characters that Slack interprets ("Formatting text for app surfaces"). */
const forSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const marks = { open: ':red_circle:', over: ':large_green_circle:', test: ':large_blue_circle:' };

/**
 * A block in Slack may have 3,000 characters ("Section block"). It has two texts, and an escaped character
 * has at most five.
 */
const longestInSlack = 290;

function slackBody(message: AlarmMessage): object {
  const { account, region, state, openedAt, title, detail } = message;
  const head = forSlack(`${state === 'over' ? 'Over: ' : ''}${title.slice(0, longestInSlack)}`);
  const at = Math.floor(openedAt / secondMs);
  const since = `<!date^${at}^{date_short_pretty} {time}|${new Date(openedAt).toISOString()}>`;
  return {
    text: `${marks[state]} ${head}`,
    blocks: [
      {
        type: 'section',
        text: {
          type: 'mrkdwn',
          text: `${marks[state]} *${head}*\n${forSlack(detail.slice(0, longestInSlack))}`,
        },
      },
      {
        type: 'context',
        elements: [{ type: 'mrkdwn', text: `Since ${since} · account ${forSlack(account)} · ${region}` }],
      },
    ],
  };
}

/** The longest summary that PagerDuty accepts ("PD-CEF"). */
const longestSummary = 1_024;

const pagerDutyBody = (message: AlarmMessage, routingKey: string): object => ({
  routing_key: routingKey,
  event_action: message.state === 'over' ? 'resolve' : 'trigger',
  dedup_key: message.id,
  payload: {
    summary: `${message.title}. ${message.detail}`.slice(0, longestSummary),
    source: `${message.account} in ${message.region}`,
    severity: message.kind === undefined ? 'info' : kindTable[message.kind].severity,
    timestamp: new Date(message.openedAt).toISOString(),
    component: message.subject === '' ? undefined : message.subject,
    class: message.kind ?? 'test',
    custom_details: { account: message.account, region: message.region, subject: message.subject },
  },
});

export function bodyOf(format: AlarmFormat, routingKey: string | undefined, message: AlarmMessage): string {
  if (format === 'json') return JSON.stringify(message);
  return JSON.stringify(format === 'slack' ? slackBody(message) : pagerDutyBody(message, routingKey ?? ''));
}
