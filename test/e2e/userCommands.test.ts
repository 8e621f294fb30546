import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, unique } from '../support/api.ts';
import { startSvcQueue, svcQueue } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
const env = { SVC_URL: service.url, SVC_TOKEN: service.token };
const home = mkdtempSync(join(tmpdir(), 'svc-login-'));
afterAll(() => {
  rmSync(home, { recursive: true });
});

async function run(...args: readonly string[]): Promise<string> {
  const { code, output, stdout } = await svcQueue(args, env);
  expect(code, output).toBe(0);
  return stdout;
}

describe('the commands for users', () => {
  it('publish a message, list it, show its log, and send it again when it failed', async () => {
    let isBroken = true;
    const inbox = receiver.inbox((_delivery, response) =>
      response.writeHead(isBroken ? 500 : 200).end('out of stock'),
    );
    const label = unique('order');
    const stdout = await run(
      'publish',
      inbox.url,
      '--data',
      '{"id":7}',
      `label=${label}`,
      'retries=0',
      '--json',
    );
    const { messageId } = z.object({ messageId: z.string() }).parse(JSON.parse(stdout));
    const list = await eventually(
      () => run('messages', `label=${label}`, 'state=ALL'),
      (text) => text.includes('FAILED'),
    );
    expect(list).toMatch(/^MESSAGE ID +STATE +CREATED AT +NEXT DELIVERY TIME +LABELS +URL\n/);
    expect(await run('message', messageId)).toMatch(/^state +FAILED$/m);
    expect(await run('logs', `label=${label}`)).toMatch(/ ERROR +msg_\w+ +500 /);
    await eventually(
      () => run('dlq', 'count', `label=${label}`),
      (text) => /\n1 .* out of stock\n$/.test(text),
    );
    isBroken = false;
    expect(await run('dlq', 'retry', `label=${label}`)).toBe(
      'Send many dead letters again: done, 1 done, 0 failed.\n',
    );
    expect(String((await inbox.received(2))[1]?.body)).toBe('{"id":7}');
    expect(await run('open', messageId)).toBe(`${service.url}/console#/messages/${messageId}\n`);
  });

  it('read all pages, an entry a line', async () => {
    const label = unique('many');
    const headers = { 'Svc-Label': label, 'Svc-Delay': '1h' };
    await Promise.all([1, 2, 3].map(() => publish(receiver.inbox().url, { headers })));
    const first = await svcQueue(['messages', `label=${label}`, 'count=1'], env);
    expect(first.output).toContain('There is more: --all, or cursor=');
    const lines = (await run('messages', `label=${label}`, 'count=1', '--all', '--json')).trim().split('\n');
    expect(
      new Set(lines.map((line) => z.object({ messageId: z.string() }).parse(JSON.parse(line)).messageId))
        .size,
    ).toBe(3);
    expect(await run('api', 'cancelMessages', `label=${label}`, '--yes')).toContain('3 done');
  });

  it('follow the log until Ctrl-C', async () => {
    const label = unique('followed');
    const args = ['logs', `label=${label}`, `fromDate=${Date.now()}`, '--follow', '--json'];
    const following = startSvcQueue(args, env);
    await publish(receiver.inbox().url, { headers: { 'Svc-Label': label } });
    await following.said(/"DELIVERED"/);
    following.interrupt();
    const { code, stdout } = await following.ended;
    expect(code).toBe(0);
    const states = [...stdout.matchAll(/"state":"(\w+)"/g)].map(([, state]) => state);
    expect(states).toEqual(['CREATED', 'ACTIVE', 'DELIVERED']);
  });

  it('hold and release, make and revoke tokens', async () => {
    const label = unique('held');
    expect(await run('hold', 'label', label, 'duration=2h', 'reason=It is being moved.')).toBe('Done.\n');
    expect(await run('hold')).toMatch(new RegExp(`^label +${label} .*It is being moved\\.$`, 'm'));
    expect(await run('release', 'label', label)).toBe('Done.\n');
    const made = z
      .object({ id: z.string(), token: z.string() })
      .parse(JSON.parse(await run('tokens', 'create', 'name=shop', 'scope=read', '--json')));
    const refused = await svcQueue(['queues'], { ...env, SVC_TOKEN: 'x' });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.output).toContain(`${service.url} answered 401: `);
    await run('tokens', 'revoke', made.id, '--yes');
    await eventually(
      () => api('GET', '/v2/queues', { token: made.token }),
      ({ status }) => status === 401,
    );
  });

  it('use a stored login, in a file that only its user may read', async () => {
    const place = { XDG_CONFIG_HOME: home };
    const missing = await svcQueue(['queues'], place);
    expect(missing).toMatchObject({
      code: 2,
      output:
        'Which service? Set SVC_URL and SVC_TOKEN, run svc-queue login, or use the folder of a local stage.\n',
    });
    expect((await svcQueue(['login', '--url', service.url], place, 'wrong')).output).toContain(
      ' answered 401: ',
    );
    expect((await svcQueue(['login', '--url', service.url], place, `${service.token}\n`)).code).toBe(0);
    expect(statSync(join(home, 'svc-queue/login')).mode & 0o777).toBe(0o600);
    expect((await svcQueue(['queues'], place)).stdout).toMatch(/^NAME +PARALLELISM /);
    const listener = startSvcQueue(['listen', '1'], place);
    await listener.said(/^pull:listen goes to /);
    await listener.kill();
    const half = await svcQueue(['queues'], { ...place, SVC_URL: 'https://other.example' });
    expect(half.output).toMatch(/^The variable SVC_TOKEN is missing/);
  });
});
