import { describe, expect, it } from 'vitest';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { checkMetrics, findPromtool } from '../support/promtool.ts';
import { service } from '../support/service.ts';
import { eventually } from '../support/eventually.ts';

const promtool = findPromtool();

async function scrape(token: string): Promise<{ readonly response: Response; readonly text: string }> {
  const response = await fetch(`${service.url}/v2/metrics`, {
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      'accept-encoding': 'gzip',
    },
  });
  return { response, text: await response.text() };
}

const lines = (text: string): readonly string[] => text.split('\n');

describe('the metrics of an account', () => {
  it('are in Prometheus’ text format, and include its queues and keys', async () => {
    const account = await makeAccount({ max_queues: 33 });
    const { token, read_only_token } = account;
    await ok(api('POST', '/v2/queues', { token, body: { queueName: 'mail', paused: true } }));
    for (let sent = 0; sent < 3; sent += 1) {
      const { status } = await api('POST', '/v2/enqueue/mail/https://example.com/later', { token });
      expect(status).toBe(200);
    }
    const key = { 'Svc-Flow-Control-Key': 'tenant "7"', 'Svc-Flow-Control-Value': 'parallelism=1' };
    await publishAs(account, 'https://example.com/later', { headers: { ...key, 'Svc-Delay': '1h' } });

    // The names of queues appear in lists shortly after they are created.
    const { response, text } = await eventually(
      () => scrape(read_only_token),
      (asked) => asked.text.includes('svc_queue_waiting{queue="mail"} 3'),
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(lines(text)).toEqual(
      expect.arrayContaining([
        '# TYPE svc_queue_waiting gauge',
        'svc_messages_waiting 3',
        'svc_queue_paused{queue="mail"} 1',
        'svc_flow_control_waiting{key="tenant \\"7\\""} 0',
        'svc_dead_letters 0',
        'svc_hosts_down 0',
        'svc_limit{limit="max_queues"} 33',
        '# TYPE svc_messages_total counter',
        'svc_messages_total{state="delivered"} 0',
        'svc_retries_total 0',
        'svc_series_dropped 0',
      ]),
    );
    expect(text).toMatch(/^svc_queue_oldest_seconds\{queue="mail"\} \d/m);
    if (promtool !== undefined) expect(checkMetrics(promtool, text)).toBe('');
  });
});
