import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { startConnectProxy } from '../support/connectProxy.ts';
import { deadLettered } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { messageIdOf, publish as publishTo } from '../support/publish.ts';
import { service } from '../support/service.ts';
import { runStage, startStage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** A stage’s environment names a proxy, and a deployment has the setting `outboundProxy`. */

const receiver = useReceiver();
const endings: (() => Promise<void> | void)[] = [];
afterAll(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** A public address that only the proxy can reach here. */
const away = '93.184.216.34';

const logs = z.object({
  logs: z.array(z.object({ state: z.string(), error: z.optional(z.string()) })),
});

async function proxiedStage(answer?: () => number) {
  const proxy = await startConnectProxy(Number(new URL(receiver.origin).port), answer);
  endings.push(proxy.close);
  const withCredentials = proxy.url.replace('//', '//user:secret@');
  const stage = await startStage({
    env: {
      HTTPS_PROXY: withCredentials,
      HTTP_PROXY: withCredentials,
      NO_PROXY: '192.0.2.0/24,direct.example',
    },
  });
  endings.push(stage.remove);
  const ask = async (method: string, path: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${stage.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${stage.token}`, ...headers },
      ...(method === 'POST' && { body: 'work' }),
    });
    return z.unknown().parse(await response.json());
  };
  const publish = (url: string) => ask('POST', `/v2/publish/${url}`, { 'svc-retries': '0' });
  const errorOf = async (): Promise<string> =>
    (
      await eventually(
        async () => logs.parse(await ask('GET', '/v2/logs')).logs.find(({ error }) => error !== undefined),
        (found) => found !== undefined,
      )
    )?.error ?? '';
  return { proxy, publish, errorOf };
}

describe.skipIf(service.target === 'deployed')('a stage behind a proxy', () => {
  it('delivers through it, and to this machine without it', async () => {
    const { proxy, publish } = await proxiedStage();
    const inbox = receiver.inbox();
    const { pathname } = new URL(inbox.url);
    await publish(`http://${away}${pathname}`);
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['host']).toBe(away);
    expect(delivery?.headers).not.toHaveProperty('proxy-authorization');
    await publish(inbox.url);
    expect(await inbox.received(2)).toHaveLength(2);
    expect(proxy.requests.map(({ asked }) => asked)).toEqual([`http://${away}${pathname}`]);
  });

  it('logs that the proxy refused, without the credentials', async () => {
    const { proxy, publish, errorOf } = await proxiedStage(() => 407);
    await publish(`https://${away}/hook`);
    const error = await errorOf();
    expect(error).toBe(`The proxy answered 407 (Proxy Authentication Required) to CONNECT ${away}:443.`);
    expect(proxy.requests[0]?.headers['proxy-authorization']).toMatch(/^Basic /);
  });

  it.each([
    ['HTTPS_PROXY', 'socks5://127.0.0.1', 'Allowed is the URL of a proxy'],
    ['NO_PROXY', '10.0.0.0/99', 'Allowed are hosts and networks'],
  ])('does not start with %s=%s', async (variable, value, sentence) => {
    const env = { HTTPS_PROXY: 'http://127.0.0.1:1', [variable]: value };
    const { exited, closed, output } = await runStage(['--port', '0', '--in-memory'], undefined, env);
    expect(await exited).toBe(2);
    await closed;
    expect(output()).toContain(sentence);
  });
});

describe.runIf(service.target === 'deployed')('a deployment with an outbound proxy', () => {
  it('delivers through it, and logs its refusals', async () => {
    const receiverPort = Number(new URL(receiver.origin).port);
    const { proxyPort = 0 } = service.deployment ?? {};
    const isTunnel = ({ method }: { readonly method: string }) => method === 'CONNECT';
    const proxy = await startConnectProxy(receiverPort, (asked) => (isTunnel(asked) ? 407 : 200), proxyPort);
    endings.push(proxy.close);
    const inbox = receiver.inbox();
    const url = `http://${away}${new URL(inbox.url).pathname}`;
    messageIdOf(await publishTo(url));
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['host']).toBe(away);
    expect(delivery?.headers).not.toHaveProperty('proxy-authorization');
    expect(proxy.requests.map(({ asked }) => asked)).toEqual([url]);

    const refused = messageIdOf(await publishTo(`https://${away}/hook`, { headers: { 'Svc-Retries': '0' } }));
    const [letter] = await deadLettered({ messageId: refused }, 1);
    expect(letter).toMatchObject({
      error: `The proxy answered 407 (Proxy Authentication Required) to CONNECT ${away}:443.`,
    });
    const credentials = `Basic ${Buffer.from('user:secret').toString('base64')}`;
    expect(proxy.requests.map(({ headers }) => headers['proxy-authorization'])).toEqual([
      credentials,
      credentials,
    ]);
  });
});
