import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { changeAccount, makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api } from '../support/api.ts';
import { pem, startDemandingHost } from '../support/demandingHost.ts';
import { eventually } from '../support/eventually.ts';
import { messageIdOf } from '../support/publish.ts';
import { service } from '../support/service.ts';
import { startStage, type Stage } from '../support/stage.ts';

/** A stage on one machine whose accounts have certificates in files. */

const events = z.object({
  events: z.array(z.object({ state: z.string(), error: z.optional(z.string()) })),
});

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
    stage = await startStage({ testControl: true });
    provide('private', pem('clients/authority'));
    provide('acme', pem('clients/acme'));
    provide('beta', pem('clients/beta'));
  });
  afterAll(async () => {
    host?.close();
    await stage?.remove();
  });

  const accountWith = (fields: Readonly<Record<string, unknown>>) =>
    makeAccount({ region: 'eu-central-1', ...fields }, parts().stage.management);
  const publishTo = async ({ token }: AccountRecord): Promise<string> => {
    const { port } = parts().host;
    const { url } = parts().stage;
    const init = { url, body: 'work', headers: { 'Svc-Retries': '0' } };
    return messageIdOf(await publishAs({ token }, `https://localhost:${port}/`, init));
  };
  /** The state in which a message ended, with the error of its attempt. */
  async function outcomeOf({ token }: AccountRecord, messageId: string) {
    const { url } = parts().stage;
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
  const deliver = async (account: AccountRecord) => outcomeOf(account, await publishTo(account));
  const identity = (name: string) => [{ host: 'localhost', ca: 'private', identity: name }];

  it('delivers with them, and shows their names only', async () => {
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

  it('tells in the log what is wrong with them, and delivers once it is repaired', async () => {
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

  it('uses a rotated file after five minutes, and none once the field is empty', async () => {
    const account = await accountWith({ tls_identities: identity('turning') });
    provide('turning', pem('clients/acme'));
    const { stage: running, host: demanding } = parts();
    expect(await deliver(account)).toMatchObject({ state: 'DELIVERED' });
    provide('turning', pem('clients/beta'));
    await running.advance(5 * 60_000);
    expect(await deliver(account)).toMatchObject({ state: 'DELIVERED' });
    expect(demanding.clients.slice(-2)).toEqual(['acme', 'beta']);
    const changed = await changeAccount(account.id, { tls_identities: null }, running.management);
    expect(changed).not.toHaveProperty('tls_identities');
    await running.advance(10_000);
    const { state, error } = await deliver(account);
    expect([state, error]).toEqual(['FAILED', expect.stringContaining('certificate')]);
  });
});
