import { Client } from '@upstash/qstash';
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { service } from '../support/publish.ts';

let client: Client;
beforeAll(() => {
  client = new Client({ baseUrl: service.url, token: service.token });
});

describe('the published client’s schedules, unchanged', () => {
  it('are created, read, listed, paused, resumed and deleted', async () => {
    const wanted = `client-${randomUUID()}`;
    const { scheduleId } = await client.schedules.create({
      destination: 'https://example.com/hook',
      scheduleId: wanted,
      cron: 'CRON_TZ=America/New_York 30 8 * * 1-5',
      body: JSON.stringify({ a: 1 }),
      headers: { 'X-Tenant': 'acme' },
      method: 'PUT',
      retries: 2,
      delay: 30,
      timeout: '20s',
      callback: 'https://example.com/callback',
      failureCallback: 'https://example.com/failure',
      queueName: 'reports',
      label: ['one', 'two'],
      retryDelay: '1000',
      flowControl: { key: 'tenant', parallelism: 3, rate: 5, period: '1m' },
      redact: { header: ['x-tenant'] },
    });
    expect(scheduleId).toBe(wanted);
    const schedule = await client.schedules.get(scheduleId);
    expect(schedule).toMatchObject({
      scheduleId,
      cron: 'CRON_TZ=America/New_York 30 8 * * 1-5',
      destination: 'https://example.com/hook',
      method: 'PUT',
      body: '{"a":1}',
      retries: 2,
      delay: 30,
      callback: 'https://example.com/callback',
      failureCallback: 'https://example.com/failure',
      queueName: 'reports',
      label: 'one',
      labels: ['one', 'two'],
      retryDelayExpression: '1000',
      flowControlKey: 'tenant',
      parallelism: 3,
      rate: 5,
      ratePerSecond: 5,
      period: 60,
      isPaused: false,
    });
    expect(schedule.header?.['X-Tenant']?.[0]).toMatch(/^REDACTED:/);
    expect(schedule.nextScheduleTime).toBeGreaterThan(Date.now());
    expect((await client.schedules.list()).map((one) => one.scheduleId)).toContain(scheduleId);

    await client.schedules.pause({ schedule: scheduleId });
    expect((await client.schedules.get(scheduleId)).isPaused).toBe(true);
    await client.schedules.resume({ schedule: scheduleId });
    expect((await client.schedules.get(scheduleId)).isPaused).toBe(false);

    await client.schedules.delete(scheduleId);
    await expect(client.schedules.get(scheduleId)).rejects.toThrow(/There is no schedule/);
  });

  it('explain what is wrong with an expression', async () => {
    const create = client.schedules.create({ destination: 'https://example.com/', cron: '99 * * * *' });
    await expect(create).rejects.toThrow(/minute/);
  });
});
