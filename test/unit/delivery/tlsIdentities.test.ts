import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { newAccount } from '../../../lambdas/account/account.ts';
import type { Message } from '../../../lambdas/message/message.ts';
import type { TlsIdentity } from '../../../lambdas/account/account.ts';
import { AwsError } from '../../../local/aws/awsError.ts';
import { pem, startDemandingHost } from '../../support/demandingHost.ts';
import { useStandIns } from '../../support/useStandIns.ts';

const standIns = useStandIns();
const minuteMs = 60_000;

/** Each test is like a process that has read nothing. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  vi.resetModules();
  const values = standIns().secretValues;
  for (const id of values.keys()) if (id.startsWith('tls/')) values.delete(id);
  secret('acme', pem('clients/acme'));
  secret('beta', pem('clients/beta'));
  secret('private', pem('clients/authority'));
});

const secret = (name: string, text: string): void => {
  standIns().secretValues.set(`tls/${name}.pem`, text);
};

const later = (ms: number): void => {
  vi.setSystemTime(Date.now() + ms);
};

async function demanding(...options: Parameters<typeof startDemandingHost>) {
  const host = await startDemandingHost(...options);
  onTestFinished(host.close);
  return host;
}

function readsOf() {
  const get = vi.spyOn(standIns().secretValues, 'get');
  onTestFinished(() => {
    get.mockRestore();
  });
  return (): string[] => get.mock.calls.map(([id]) => id).filter((id) => id.startsWith('tls/'));
}

let accounts = 0;

function account(...tlsIdentities: readonly TlsIdentity[]) {
  accounts += 1;
  const id = `00000000-0000-4000-8000-${accounts.toString().padStart(12, '0')}`;
  const own = newAccount({
    id,
    plan: 'paid',
    region: 'eu-central-1',
    createdAt: Date.now(),
    ...(tlsIdentities.length > 0 && { tlsIdentities }),
  });
  return async (port: number, host = 'localhost') => {
    const { callUrl } = await import('../../../lambdas/delivery/callDestination.ts');
    const message: Message = {
      messageId: 'msg_1',
      accountId: id,
      prefix: 'Svc',
      url: `https://${host}:${port}/`,
      method: 'POST',
      headers: [],
      maxRetries: 0,
      timeoutMs: 30_000,
      labels: [],
      createdAt: Date.now(),
      notBefore: Date.now(),
      callerIp: '192.0.2.1',
      expiresAt: Date.now(),
    };
    return callUrl(message, 0, own, Buffer.from('work'));
  };
}

const acme: TlsIdentity = { host: 'localhost', ca: 'private', identity: 'acme' };
const beta: TlsIdentity = { host: 'localhost', ca: 'private', identity: 'beta' };

describe('a host that requires a certificate', () => {
  it('gets the account’s over one connection, and each secret is read once', async () => {
    const { port, clients, connections } = await demanding();
    const reads = readsOf();
    const send = account(acme);
    expect(await send(port)).toMatchObject({ status: 200 });
    expect(await send(port)).toMatchObject({ status: 200 });
    expect(clients).toEqual(['acme', 'acme']);
    expect(connections.size).toBe(1);
    expect(reads().toSorted()).toEqual(['tls/acme.pem', 'tls/private.pem']);
  });

  it('refuses an account that has only the authority, with the TLS error', async () => {
    const { port, clients } = await demanding();
    const refused = await account({ host: '*', ca: 'private' })(port);
    expect(refused).toMatchObject({ status: 0, isRefusal: false });
    expect(refused.error).toMatch(/certificate required|closed the connection/i);
    expect(clients).toEqual([]);
  });

  it('is not trusted without its authority, for which nothing is read', async () => {
    const { port, clients } = await demanding();
    const reads = readsOf();
    for (const send of [account(), account({ ...acme, host: 'hooks.acme.example' })]) {
      const { status, error } = await send(port);
      expect([status, error]).toEqual([0, expect.stringContaining('certificate')]);
    }
    expect([clients, reads()]).toEqual([[], []]);
  });

  it('is not trusted by another authority or under another name', async () => {
    const { port } = await demanding();
    secret('private', pem('authority'));
    expect((await account(acme)(port)).error).toMatch(/^self-signed certificate|^unable to verify/);
    const key = readFileSync(new URL('../../support/certificates/server.key', import.meta.url));
    const other = await demanding({ cert: pem('server'), key });
    expect((await account(acme)(other.port)).error).toContain("does not match certificate's altnames");
  });

  it('is trusted by the deployment’s authorities, too', async () => {
    const { port } = await demanding();
    secret('private', pem('authority'));
    vi.stubEnv(
      'NODE_EXTRA_CA_CERTS',
      new URL('../../support/certificates/clients/authority.pem', import.meta.url).pathname,
    );
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await account(acme)(port)).toMatchObject({ status: 200 });
  });
});

describe('connections', () => {
  it('never serve another account, identity or host', async () => {
    const { port, clients, connections } = await demanding({ rejectUnauthorized: false });
    const senders = [
      ['acme', account(acme)],
      ['acme', account(acme)],
      ['beta', account(beta)],
      [undefined, account({ host: 'localhost', ca: 'private' })],
    ] as const;
    for (const [name, send] of [...senders, ...senders, ...senders.toReversed()]) {
      expect(await send(port)).toMatchObject({ status: 200 });
      expect(clients.at(-1)).toBe(name);
    }
    expect(connections.size).toBe(senders.length);
    expect([...connections.values()].map((names) => names.size)).toEqual([1, 1, 1, 1]);
    const before = clients.length;
    await Promise.all(senders.map(([, send]) => send(port)));
    expect(clients.slice(before).toSorted()).toEqual(['acme', 'acme', 'beta', undefined]);
    expect(connections.size).toBe(senders.length);
  });

  it('get the identity of the most specific host', async () => {
    const { port, clients } = await demanding();
    const send = account({ ...beta, host: '*' }, acme);
    for (const host of ['localhost', '127.0.0.1', 'LOCALHOST.', '127.1'])
      expect(await send(port, host)).toMatchObject({ status: 200 });
    expect(clients).toEqual(['acme', 'beta', 'acme', 'beta']);
  });
});

describe('a secret', () => {
  it('that is rotated takes effect after five minutes, and an unchanged one keeps its connection', async () => {
    const { port, clients, connections } = await demanding();
    const reads = readsOf();
    const send = account(acme);
    await send(port);
    later(5 * minuteMs);
    await send(port);
    expect([connections.size, reads().length]).toEqual([1, 4]);
    secret('acme', pem('clients/beta'));
    later(5 * minuteMs - 1);
    await send(port);
    later(1);
    await send(port);
    expect(clients).toEqual(['acme', 'acme', 'acme', 'beta']);
  });

  it.each([undefined, pem('clients/expired')])(
    'that is repaired is used ten seconds after the last read (%#)',
    async (wrong) => {
      const { port } = await demanding();
      const send = account({ ...acme, identity: 'new' });
      if (wrong !== undefined) secret('new', wrong);
      const reads = readsOf();
      expect(await send(port)).toMatchObject({ status: 0 });
      secret('new', pem('clients/acme'));
      later(9_999);
      expect(await send(port)).toMatchObject({ status: 0 });
      expect(reads().filter((id) => id === 'tls/new.pem')).toHaveLength(1);
      later(1);
      expect(await send(port)).toMatchObject({ status: 200 });
    },
  );

  it('that cannot be read now causes no attempt, and a known one is still used', async () => {
    const { port, clients } = await demanding();
    const send = account(acme);
    await send(port);
    later(5 * minuteMs);
    const { secretValues } = standIns();
    const get = vi.spyOn(secretValues, 'get').mockImplementation((id) => {
      if (id.startsWith('tls/')) throw new AwsError('InternalServiceError', 'An outage', 500);
      return Map.prototype.get.call(secretValues, id) as string | undefined;
    });
    onTestFinished(() => {
      get.mockRestore();
    });
    expect(await send(port)).toMatchObject({ status: 200 });
    await expect(account({ host: '*', identity: 'beta' })(port)).rejects.toThrow('An outage');
    expect(clients).toEqual(['acme', 'acme']);
  });

  it.each([
    ['Access to KMS is not allowed', 'Access to KMS is not allowed'],
    ['User: arn:aws:sts::1:role/x is not authorized', 'AccessDeniedException'],
  ])('that may not be read is named in the error without roles: %s', async (message, shown) => {
    const { port } = await demanding();
    const get = vi.spyOn(standIns().secretValues, 'get').mockImplementation(() => {
      throw new AwsError('AccessDeniedException', message);
    });
    const { error } = await account(acme)(port);
    get.mockRestore();
    expect(error).toMatch(/^The (TLS identity acme|certificate authority private) cannot be used: tls/);
    expect(error?.endsWith(`could not be read: ${shown}`)).toBe(true);
  });

  it('is removed from memory if a process needs more than 200', async () => {
    const { port } = await demanding();
    const reads = readsOf();
    const send = (name: string) => account({ host: '*', identity: name })(port);
    for (let number = 0; number <= 200; number += 1) await send(`missing-${number.toString()}`);
    await send('missing-200');
    await send('missing-0');
    expect(reads().filter((id) => id.startsWith('tls/missing-'))).toHaveLength(202);
  });
});

const [certificate = '', key = ''] = pem('clients/acme').split(/(?=-----BEGIN PRIVATE KEY)/);

describe('an attempt fails without counting against the host, with', () => {
  it.each([
    ['no secret', undefined, 'tls/x.pem does not exist.'],
    ['no certificate', key, 'tls/x.pem has no certificate in PEM.'],
    [
      'an unreadable certificate',
      `-----BEGIN CERTIFICATE-----\nabcd\n-----END CERTIFICATE-----\n${key}`,
      'certificate 1 in tls/x.pem cannot be read.',
    ],
    ['no key', certificate, 'tls/x.pem has no private key in PEM.'],
    [
      'an unreadable key',
      `${certificate}-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n`,
      'the key in tls/x.pem cannot be read.',
    ],
    [
      'a key with a passphrase',
      `${certificate}-----BEGIN ENCRYPTED PRIVATE KEY-----\nabcd\n-----END ENCRYPTED PRIVATE KEY-----\n`,
      'the key in tls/x.pem has a passphrase; allowed is one without.',
    ],
    [
      'the key of another',
      `${certificate}${pem('clients/beta')}`,
      'the key in tls/x.pem does not match the first certificate.',
    ],
    [
      'an expired certificate',
      pem('clients/expired'),
      expect.stringMatching(/^its certificate expired at .* UTC\.$/),
    ],
  ])('%s', async (_, text, fault) => {
    const { port, clients } = await demanding();
    if (text !== undefined) secret('x', text);
    const { error = '', ...answer } = await account({ host: '*', identity: 'x', ca: 'private' })(port);
    expect(answer).toMatchObject({ status: 0, isRefusal: true });
    const start = 'The TLS identity x cannot be used: ';
    expect(error.startsWith(start)).toBe(true);
    expect(error.slice(start.length)).toEqual(fault);
    expect(error).not.toContain('PRIVATE KEY');
    expect(clients).toEqual([]);
  });

  it('an authority that cannot be used', async () => {
    const { port } = await demanding();
    secret('x', key);
    expect(await account({ host: '*', ca: 'x' })(port)).toMatchObject({
      status: 0,
      error: 'The certificate authority x cannot be used: tls/x.pem has no certificate in PEM.',
      isRefusal: true,
    });
  });

  it('a certificate that expires while it is kept', async () => {
    const { port } = await demanding();
    const send = account(acme);
    await send(port);
    later(200 * 365 * 24 * 60 * minuteMs);
    expect((await send(port)).error).toMatch(
      /^The TLS identity acme cannot be used: its certificate expired/,
    );
  });
});
