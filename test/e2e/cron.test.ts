import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok, query } from '../support/api.ts';
import { errorOf } from '../support/publish.ts';

const explained = z.strictObject({
  cron: z.string(),
  timezone: z.string(),
  description: z.string(),
  nextFires: z.array(z.number()),
});

const explain = (expression: string) => api('GET', `/v2/cron${query({ expression })}`);

describe('a cron expression', () => {
  it.each([
    ['30 9 * * MON-FRI', 'UTC', 'At 09:30, Monday through Friday.'],
    ['CRON_TZ=Asia/Tokyo 0 0 1 * *', 'Asia/Tokyo', 'At 00:00, on day 1 of the month.'],
    ['0 0 1 * MON', 'UTC', 'At 00:00, on day 1 of the month, and on Monday (either day is enough).'],
    ['@weekly', 'UTC', 'At 00:00, only on Sunday.'],
  ])('is explained: %s', async (cron, timezone, description) => {
    const answer = explained.parse(await ok(explain(` ${cron} `)));
    expect(answer).toMatchObject({ cron, timezone, description });
    expect(answer.nextFires).toHaveLength(5);
    expect(answer.nextFires).toEqual(answer.nextFires.toSorted((a, b) => a - b));
  });

  it('is refused, if wrong, like in a schedule', async () => {
    const { status, json } = await api('POST', '/v2/schedules/https://example.com/', {
      headers: { 'upstash-cron': '61 * * * *' },
    });
    const answer = await explain('61 * * * *');
    expect([answer.status, status]).toEqual([400, 400]);
    expect(errorOf(answer).replace(/^\S+/, '')).toBe(
      errorOf({ status, json, headers: new Headers() }).replace(/^\S+/, ''),
    );
  });

  it.each([
    ['', 'expression is missing'],
    ['?expression=', 'expression is empty'],
    ['?cron=1', '"cron" is not a parameter here'],
  ])('must be given exactly once: /v2/cron%s', async (text, error) => {
    const answer = await api('GET', `/v2/cron${text}`);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toContain(error);
  });
});
