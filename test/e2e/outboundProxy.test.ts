import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { startConnectProxy } from '../support/connectProxy.ts';
import { api, deadLettered, ok } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { messageIdOf, publish } from '../support/publish.ts';
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

const dlq = z.object({ messages: z.array(z.object({ messageId: z.string(), error: z.string() })) });

describe.skipIf(service.target === 'deployed')('a stage behind a proxy', () => {
  it('delivers through it, and to this machine without it, and logs its refusals without the credentials', async () => {
    let answer = 200;
    const proxy = await startConnectProxy(Number(new URL(receiver.origin).port), () => answer);
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
    const { url, token } = stage;
    const send = async (to: string) =>
      messageIdOf(await publish(to, { url, token, headers: { 'Svc-Retries': '0' } }));
    const inbox = receiver.inbox();
    const { pathname } = new URL(inbox.url);
    await send(`http://${away}${pathname}`);
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['host']).toBe(away);
    expect(delivery?.headers).not.toHaveProperty('proxy-authorization');
    await send(inbox.url);
    expect(await inbox.received(2)).toHaveLength(2);
    expect(proxy.requests.map(({ asked }) => asked)).toEqual([`http://${away}${pathname}`]);

    answer = 407;
    const messageId = await send(`https://${away}/hook`);
    const [letter] = await eventually(
      async () => dlq.parse(await ok(api('GET', '/v2/dlq', { url, token }))).messages,
      ({ length }) => length > 0,
    );
    expect(letter).toEqual({
      messageId,
      error: `The proxy answered 407 (Proxy Authentication Required) to CONNECT ${away}:443.`,
    });
    expect(proxy.requests[1]?.headers['proxy-authorization']).toMatch(/^Basic /);
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
    messageIdOf(await publish(url));
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['host']).toBe(away);
    expect(delivery?.headers).not.toHaveProperty('proxy-authorization');
    expect(proxy.requests.map(({ asked }) => asked)).toEqual([url]);

    const refused = messageIdOf(await publish(`https://${away}/hook`, { headers: { 'Svc-Retries': '0' } }));
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
