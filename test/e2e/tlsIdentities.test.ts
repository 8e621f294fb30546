import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api } from '../support/api.ts';
import { openAwsReceivers } from '../support/awsReceivers.ts';
import { pem, startDemandingHost } from '../support/demandingHost.ts';
import { eventually } from '../support/eventually.ts';
import { messageIdOf } from '../support/publish.ts';
import { service } from '../support/service.ts';
import { startStage, type Stage } from '../support/stage.ts';

const events = z.object({
  events: z.array(z.object({ state: z.string(), error: z.optional(z.string()) })),
});

type Place = Pick<Stage, 'url' | 'management'>;
type Fields = Readonly<Record<string, unknown>>;

/** The emulator would reach `localhost` itself over plain HTTP. */
const hostname = 'hooks.localhost';
const identitiesOf = (ca: string, identity: string) => [{ host: hostname, ca, identity }];

const accountAt = ({ management }: Place, fields: Fields): Promise<AccountRecord> =>
  makeAccount({ region: service.region, ...fields }, management);

/** Publishes to a host. @returns the message’s final state, and its attempt’s error */
async function deliverAt({ url }: Place, { token }: AccountRecord, port: number) {
  const init = { url, body: 'work', headers: { 'Svc-Retries': '0' } };
  const messageId = messageIdOf(await publishAs({ token }, `https://${hostname}:${port}/`, init));
  const found = await eventually(
    async () =>
      events.parse((await api('GET', `/v2/events?messageId=${messageId}`, { token, url })).json).events,
    (list) => list.some(({ state }) => ['DELIVERED', 'FAILED'].includes(state)),
  );
  return {
    state: found.find(({ state }) => ['DELIVERED', 'FAILED'].includes(state))?.state,
    error: found.find(({ error }) => error !== undefined)?.error,
  };
}

describe.skipIf(service.target === 'deployed')('an account with certificates in files', () => {
  let stage: Stage | undefined;
  let host: Awaited<ReturnType<typeof startDemandingHost>> | undefined;
  const parts = () => ({ stage: stage ?? expect.fail('no stage'), host: host ?? expect.fail('no host') });
  const provide = (name: string, text: string): void => {
    const folder = join(parts().stage.dataDir, 'tls');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.pem`), text);
  };
  beforeAll(async () => {
    host = await startDemandingHost();
    // Not the shared one, whose clock may be hours ahead of the one that the AWS SDK compares when a secret is missing.
    stage = await startStage({ testControl: true });
    provide('private', pem('clients/authority'));
    provide('acme', pem('clients/acme'));
    provide('beta', pem('clients/beta'));
  });
  afterAll(async () => {
    host?.close();
    await stage?.remove();
  });

  const place = (): Place => parts().stage;
  const accountWith = (fields: Fields) => accountAt(place(), fields);
  const deliver = (account: AccountRecord) => deliverAt(place(), account, parts().host.port);
  const identity = (name: string) => identitiesOf('private', name);

  it('delivers with them, and shows only their names', async () => {
    const [acme, beta] = [
      await accountWith({ tls_identities: identity('acme') }),
      await accountWith({ tls_identities: identity('beta') }),
    ];
    expect(acme).toMatchObject({ tls_identities: identity('acme') });
    for (const account of [acme, beta, acme])
      expect(await deliver(account)).toMatchObject({ state: 'DELIVERED' });
    expect(parts().host.clients).toEqual(['acme', 'beta', 'acme']);
    expect(JSON.stringify(acme)).not.toContain('PRIVATE KEY');
  });

  it('logs what is wrong with them, and delivers after the repair', async () => {
    const account = await accountWith({ tls_identities: identity('new') });
    expect(await deliver(account)).toEqual({
      state: 'FAILED',
      error: 'The TLS identity new cannot be used: tls/new.pem does not exist.',
    });
    provide('new', pem('clients/beta'));
    await parts().stage.advance(10_000);
    expect(await deliver(account)).toMatchObject({ state: 'DELIVERED' });
    expect(parts().stage.output()).not.toContain('PRIVATE KEY');
  });
});

describe.runIf(service.target === 'deployed')('an account with certificates in Secrets Manager', () => {
  let host: Awaited<ReturnType<typeof startDemandingHost>> | undefined;
  let aws: ReturnType<typeof openAwsReceivers> | undefined;
  beforeAll(async () => {
    aws = openAwsReceivers();
    host = await startDemandingHost();
  });
  afterAll(() => {
    host?.close();
    aws?.close();
  });
  const identitiesWith = async (file: string) => {
    const [ca, name] = [randomUUID(), randomUUID()];
    await aws?.certificates(ca, pem('clients/authority'));
    await aws?.certificates(name, pem(file));
    return identitiesOf(ca, name);
  };
  const deliver = (account: AccountRecord) => deliverAt(service, account, host?.port ?? 0);

  it('delivers with them', async () => {
    const accounts = [
      await accountAt(service, { tls_identities: await identitiesWith('clients/acme') }),
      await accountAt(service, { tls_identities: await identitiesWith('clients/beta') }),
    ];
    for (const account of accounts) expect(await deliver(account)).toMatchObject({ state: 'DELIVERED' });
    expect(host?.clients).toEqual(['acme', 'beta']);
  });

  it('logs that a secret does not exist', async () => {
    const missing = randomUUID();
    const account = await accountAt(service, { tls_identities: identitiesOf(missing, missing) });
    const { state, error } = await deliver(account);
    expect(state).toBe('FAILED');
    expect(error).toContain(`${missing} cannot be used: `);
    expect(error).toMatch(/ does not exist\.$/);
  });
});
