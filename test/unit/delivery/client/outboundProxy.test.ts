import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { parseAllowedDestinations } from '../../../../lambdas/destination/addresses.ts';
import { targetOf } from '../../../../lambdas/destination/destination.ts';
import { createDeliveryClient } from '../../../../lambdas/delivery/client/deliveryClient.ts';
import { exceptionsOf } from '../../../../lambdas/delivery/client/outboundProxy.ts';
import { bundledProgram } from '../../../support/bundledProgram.ts';
import { startConnectProxy, type ProxyRequest } from '../../../support/connectProxy.ts';
import { pem, startDemandingHost } from '../../../support/demandingHost.ts';

const certificates = join(import.meta.dirname, '../../../support/certificates');
const tls = {
  cert: readFileSync(join(certificates, 'server.pem')),
  key: readFileSync(join(certificates, 'server.key')),
};

const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  open.push(server);
  return (server.address() as AddressInfo).port;
}

async function destination() {
  const got: { url: string | undefined; headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, response) => {
    got.push({ url: request.url, headers: request.headers });
    request.resume().on('end', () => response.writeHead(200, { connection: 'close' }).end('hello'));
  });
  return { got, port: await listening(server) };
}

async function proxyTo(port: number, answer?: (of: ProxyRequest) => number) {
  const proxy = await startConnectProxy(port, answer);
  open.push(proxy);
  return proxy;
}

const nothing = { allowed: parseAllowedDestinations([]), own: new Set<string>() };
const publicAddress = '93.184.216.34';

interface ClientOptions {
  readonly addresses?: readonly string[];
  readonly except?: readonly string[];
}

/** A client for which all destinations have these addresses. */
function clientOf(proxy: string, { addresses = [publicAddress], except = [] }: ClientOptions = {}) {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }) as const);
  const request = createDeliveryClient(nothing, () => Promise.resolve(found), undefined, {
    http: proxy,
    https: proxy,
    except,
  });
  return async (url: string, secureContext?: SecureContext) => {
    const headers = [['x-own', '1']] as const;
    const made = { url, method: 'POST', headers, body: Buffer.from('x'), timeoutMs: 20_000 } as const;
    return request({ ...made, secureContext, maxResponseBytes: 1_000 });
  };
}

const withCredentials = (url: string): string => url.replace('//', '//user:p%40ss@');

describe('a delivery over plain HTTP', () => {
  it('asks the proxy for the whole URL with the name, and gets the destination’s answer', async () => {
    const { got, port } = await destination();
    const proxy = await proxyTo(port);
    const { status, body } = await clientOf(proxy.url)('http://hooks.example/a%2Fb?c=d');
    expect([status, Buffer.from(body).toString()]).toEqual([200, 'hello']);
    expect(proxy.requests).toMatchObject([
      { method: 'POST', asked: 'http://hooks.example/a%2Fb?c=d', headers: { host: 'hooks.example' } },
    ]);
    expect(got).toMatchObject([{ url: '/a%2Fb?c=d', headers: { 'x-own': '1', host: 'hooks.example' } }]);
  });

  it('sends the credentials to the proxy only', async () => {
    const { got, port } = await destination();
    const proxy = await proxyTo(port, ({ headers }) => ('proxy-authorization' in headers ? 200 : 407));
    expect((await clientOf(withCredentials(proxy.url))('http://hooks.example/')).status).toBe(200);
    expect(got[0]?.headers).not.toHaveProperty('proxy-authorization');
    const refused = await clientOf(proxy.url)('http://hooks.example/');
    const error = 'The proxy answered 407 (Proxy Authentication Required) to the request.';
    expect(refused).toMatchObject({ status: 0, error });
  });

  it('checks the name again for each request', async () => {
    const { port } = await destination();
    const proxy = await proxyTo(port);
    const answers = [publicAddress, '169.254.169.254'];
    const request = createDeliveryClient(
      nothing,
      () => Promise.resolve([{ address: answers.shift() ?? '', family: 4 }]),
      undefined,
      { http: proxy.url, except: [] },
    );
    const made = {
      url: 'http://hooks.example/',
      method: 'POST',
      headers: [],
      body: Buffer.from('x'),
    } as const;
    const send = () => request({ ...made, timeoutMs: 20_000, maxResponseBytes: 1_000 });
    expect((await send()).status).toBe(200);
    expect(await send()).toMatchObject({ status: 0, isRefusal: true });
    expect(proxy.requests).toHaveLength(1);
  });
});

describe.each(['http', 'https'])('a delivery by %s', (scheme) => {
  it.each(['169.254.169.254', 'fd12::1'])(
    'to a name with the address %s is refused without a request to the proxy',
    async (address) => {
      const proxy = await proxyTo((await destination()).port);
      expect(
        await clientOf(proxy.url, { addresses: [publicAddress, address] })(`${scheme}://hooks.example/`),
      ).toMatchObject({
        status: 0,
        error: `The destination hooks.example has the address ${address}, which is not public.`,
        isRefusal: true,
      });
      expect(proxy.requests).toEqual([]);
    },
  );

  it('to a private address is refused without a request to the proxy', async () => {
    const proxy = await proxyTo((await destination()).port);
    expect(await clientOf(proxy.url)(`${scheme}://10.0.0.8/`)).toMatchObject({ status: 0, isRefusal: true });
    expect(proxy.requests).toEqual([]);
  });

  it('says if the proxy cannot be used, without showing its credentials', async () => {
    const closed = createTcpServer();
    const port = await listening(closed);
    closed.close();
    const { error = '' } = await clientOf(`http://user:secret@127.0.0.1:${port}`)(
      `${scheme}://hooks.example/`,
    );
    expect(error).toBe(
      `The proxy 127.0.0.1:${port} could not be used: connect ECONNREFUSED 127.0.0.1:${port}`,
    );
  });
});

describe('a delivery over TLS', () => {
  it.each([407, 200])('says if the proxy answers %s without TLS behind it', async (status) => {
    const { port } = await destination();
    const proxy = await proxyTo(port, () => status);
    const { status: got, error = '' } = await clientOf(withCredentials(proxy.url))('https://hooks.example/');
    expect(got).toBe(0);
    if (status !== 200)
      expect(error).toMatch(
        new RegExp(`^The proxy answered ${status} \\(.*\\) to CONNECT ${publicAddress}:443\\.$`),
      );
    expect(error).not.toContain('p@ss');
    expect(proxy.requests[0]?.headers['proxy-authorization']).toBe(
      `Basic ${Buffer.from('user:p@ss').toString('base64')}`,
    );
  });

  it('tries the next address if the proxy does not reach one', async () => {
    const proxy = await proxyTo((await destination()).port, ({ asked }) =>
      asked.startsWith('[') ? 403 : 504,
    );
    const addresses = [publicAddress, '93.184.216.35', '2606:2800::1'];
    const { error } = await clientOf(proxy.url, { addresses })('https://hooks.example:8443/');
    expect(error).toBe('The proxy answered 403 (Forbidden) to CONNECT [2606:2800::1]:8443.');
    expect(proxy.requests.map(({ asked }) => asked)).toEqual([
      '93.184.216.34:8443',
      '93.184.216.35:8443',
      '[2606:2800::1]:8443',
    ]);
  });

  it('fails if the proxy closes the connection or is not a proxy', async () => {
    const proxy = await proxyTo((await destination()).port, () => 0);
    expect((await clientOf(proxy.url)('https://hooks.example/')).error).toMatch(
      /^The proxy .* could not be used/,
    );
    const port = await listening(createTcpServer((socket) => socket.end('SSH-2.0\r\n')));
    expect((await clientOf(`http://127.0.0.1:${port}`)('https://hooks.example/')).error).toMatch(
      /^The proxy .* could not be used/,
    );
  });

  it('uses a tunnel to the checked address, keeps it, and has the name in the handshake and in Host', async () => {
    const names: unknown[] = [];
    const server = createTlsServer(tls, (request, response) => {
      names.push([
        request.socket instanceof Object && 'servername' in request.socket && request.socket.servername,
        request.headers.host,
      ]);
      request.resume().on('end', () => response.writeHead(202, { 'keep-alive': 'timeout=60' }).end('hello'));
    });
    const proxy = await proxyTo(await listening(server));
    const run = await bundledProgram(`
      import { createDeliveryClient } from './lambdas/delivery/client/deliveryClient.ts';
      import { parseAllowedDestinations } from './lambdas/destination/addresses.ts';
      const rules = { allowed: parseAllowedDestinations([]), own: new Set() };
      const resolve = async () => [{ address: '${publicAddress}', family: 4 }];
      const request = createDeliveryClient(rules, resolve, undefined, { https: '${proxy.url}', except: [] });
      const found = [];
      for (const host of ['private.example', 'private.example', 'other.example']) {
        const { status, error } = await request({
          url: 'https://' + host + ':8443/', method: 'POST', headers: [], body: Buffer.from('x'),
          timeoutMs: 60_000, maxResponseBytes: 1_000,
        });
        found.push([status, error]);
      }
      console.log(JSON.stringify(found));
      process.exit();
    `);
    const found: unknown = JSON.parse(
      await run({ NODE_EXTRA_CA_CERTS: join(certificates, 'authority.pem') }),
    );
    expect(found).toEqual([
      [202, null],
      [202, null],
      [0, expect.stringContaining("does not match certificate's altnames")],
    ]);
    expect(names).toEqual([
      ['private.example', 'private.example:8443'],
      ['private.example', 'private.example:8443'],
    ]);
    // One tunnel for the two requests to one host, and one for the other host.
    expect(proxy.requests.map(({ asked }) => asked)).toEqual(Array(2).fill(`${publicAddress}:8443`));
  });
});

describe('a host that demands certificates', () => {
  it('gets them through tunnels, each of which serves one TLS context', async () => {
    const host = await startDemandingHost();
    open.push(host);
    const proxy = await proxyTo(host.port);
    const send = clientOf(proxy.url);
    const contextOf = (name: string) =>
      createSecureContext({ cert: pem(name), key: pem(name), ca: pem('clients/authority') });
    const [acme, beta] = [contextOf('clients/acme'), contextOf('clients/beta')];
    const url = 'https://hooks.acme.example/';
    for (const context of [acme, beta, acme, beta])
      expect(await send(url, context)).toMatchObject({ status: 200 });
    expect((await send(url)).error).toContain('certificate');
    expect((await send('https://elsewhere.example/', acme)).error).toContain(
      "does not match certificate's altnames",
    );
    expect(host.clients).toEqual(['acme', 'beta', 'acme', 'beta']);
    expect(host.connections.size).toBe(2);
    expect(proxy.requests.map(({ asked }) => asked)).toEqual(Array(4).fill(`${publicAddress}:443`));
  });
});

describe('a destination that is reached without the proxy', () => {
  const except = [
    'internal.example',
    '.corp.example',
    '*.lan.example',
    'one.example:8080',
    '10.0.0.0/8',
    '192.0.2.7',
    'fd00::/8',
  ];
  it.each([
    ['http://internal.example/', true],
    ['http://notinternal.example/', false],
    ['http://a.corp.example/', true],
    ['http://a.lan.example/', true],
    ['http://one.example:8080/', true],
    ['http://one.example/', false],
    ['http://10.1.2.3/', true],
    ['http://[fd00::1]/', true],
    ['http://[2606::1]/', false],
    ['http://localhost:3000/', true],
    ['http://[::1]/', true],
  ])('%s: %s', (url, isDirect) => {
    expect(exceptionsOf({ except })(targetOf(url))).toBe(isDirect);
    expect(exceptionsOf({ except: ['*'] })(targetOf(url))).toBe(true);
  });

  it('is still checked', async () => {
    const proxy = await proxyTo((await destination()).port);
    const send = clientOf(proxy.url, { addresses: ['10.0.0.8'], except: ['*'] });
    expect(await send('http://hooks.example/')).toMatchObject({ status: 0, isRefusal: true });
    expect(proxy.requests).toEqual([]);
  });
});
