import { request } from 'node:http';
import { hostname } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { close, listen } from '../../../../local/http.ts';
import {
  isOpen,
  onLoopback,
  originsBehind,
  ownHosts,
  urlOf,
  type Network,
  type Origin,
} from '../../../../local/network/network.ts';
import { startStage } from '../../../support/stage.ts';

let ending: (() => Promise<void>) | undefined;
afterEach(() => ending?.());

/** Returns the origin of a request from 127.0.0.1 as a stage in this network sees it. */
async function originOf(network: Partial<Network>, headers: Record<string, string>): Promise<Origin> {
  const read = originsBehind({ ...onLoopback, ...network });
  const { server, port } = await listen((incoming, response) => {
    response.end(JSON.stringify(read(incoming)));
  });
  ending = () => close(server);
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => {
        resolve(JSON.parse(text) as Origin);
      });
    })
      .on('error', reject)
      .end();
  });
}

const forwarded = {
  host: 'inside:1',
  'x-forwarded-for': '203.0.113.9, 198.51.100.7, 10.0.0.2',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'queue.acme.example',
};

describe('the origin of a request', () => {
  test('is the connection’s, even if a client claims another', async () => {
    expect(await originOf({}, forwarded)).toMatchObject({ ip: '127.0.0.1', proto: 'http', host: 'inside:1' });
    const other = { trustedProxies: ['10.0.0.0/8'] };
    expect(await originOf(other, forwarded)).toMatchObject({ ip: '127.0.0.1', host: 'inside:1' });
  });

  test('is what a trusted proxy says: the last address that is not a proxy’s', async () => {
    const trustedProxies = ['127.0.0.1', '10.0.0.0/8'];
    expect(await originOf({ trustedProxies }, forwarded)).toMatchObject({
      ip: '198.51.100.7',
      proto: 'https',
      host: 'queue.acme.example',
    });
  });

  test.each([
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['203.0.113.9:51234', '203.0.113.9'],
    ['[2001:db8::7]:51234', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    // Clients that a proxy hides are still distinguished (RFC 7239, 6.3).
    ['203.0.113.9, _hidden', '_hidden'],
    ['', '127.0.0.1'],
  ])('accepts a proxy’s notation for a client address: %j', async (item, ip) => {
    const trustedProxies = ['127.0.0.1', '10.0.0.0/8'];
    expect(await originOf({ trustedProxies }, { 'x-forwarded-for': item })).toMatchObject({
      ip,
      proto: 'http',
    });
  });

  test('has the public URL, if there is one', async () => {
    const publicUrl = 'https://queue.acme.example';
    expect(await originOf({ publicUrl }, { host: 'inside:1', 'x-forwarded-proto': 'http' })).toEqual({
      ip: '127.0.0.1',
      proto: 'https',
      host: 'queue.acme.example',
      port: 443,
    });
  });
});

test('a network is open when other machines can reach the stage', () => {
  expect(isOpen(onLoopback)).toBe(false);
  expect(isOpen({ ...onLoopback, host: '::1' })).toBe(false);
  expect(isOpen({ ...onLoopback, host: '0.0.0.0' })).toBe(true);
  expect(isOpen({ ...onLoopback, publicUrl: 'https://queue.acme.example' })).toBe(true);
});

test('a stage names itself by an address that can be called', () => {
  const tls = { certFile: 'c', keyFile: 'k' };
  expect(urlOf({ ...onLoopback, host: '0.0.0.0' }, 1)).toBe('http://127.0.0.1:1');
  expect(urlOf({ ...onLoopback, host: '::', tls }, 2)).toBe('https://[::1]:2');
  expect(urlOf({ ...onLoopback, host: '192.0.2.1' }, 3)).toBe('http://192.0.2.1:3');
});

test('its own hosts are refused as destinations: names of the machine, and the public URL', () => {
  expect(ownHosts(onLoopback, [80, 81])).toEqual(['localhost:80', 'localhost:81']);
  const open = { ...onLoopback, host: '0.0.0.0', publicUrl: 'https://queue.acme.example' };
  expect(ownHosts(open, [80])).toEqual(
    expect.arrayContaining(['localhost:80', `${hostname()}:80`, '127.0.0.1:80', 'queue.acme.example']),
  );
  const shared = { ...open, publicUrl: 'https://acme.example/queue' };
  expect(ownHosts(shared, [80])).toContain('acme.example/queue');
});

test('a used port and another machine’s address are refused by name', async () => {
  await expect(startStage({ args: ['--host', '203.0.113.1'] })).rejects.toThrow(
    'This machine has no address 203.0.113.1: choose one of its addresses with --host, or 0.0.0.0 for all.',
  );
});
