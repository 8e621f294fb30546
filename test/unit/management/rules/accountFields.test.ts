import { describe, expect, it } from 'vitest';
import {
  accountLifetimeMs,
  limitsOf,
  newAccount,
  type Account,
} from '../../../../lambdas/account/account.ts';
import { longestTimeoutSeconds } from '../../../../lambdas/aws/resources.ts';
import { tokenOf } from '../../../../lambdas/account/credentials.ts';
import { limitTable } from '../../../../lambdas/value/limits.ts';
import {
  accountRecord,
  parseAccountInput,
  parseNewAccount,
  withFields,
} from '../../../../lambdas/management/rules/accountFields.ts';

const now = 1_790_000_000_000;
const deployment = {
  regions: ['eu-central-1', 'us-east-1'],
  longestTimeoutSeconds: longestTimeoutSeconds.functions,
};
const secret = { current: 'secret' };
const account = newAccount({
  id: 'e1f7a1a8-0000-4000-8000-000000000000',
  plan: 'free',
  region: 'eu-central-1',
  createdAt: now - 1_500,
});
const parse = (body: unknown) => parseAccountInput(body, deployment);
const refused = (message: string | RegExp): Error =>
  expect.objectContaining({ status: 400, message: expect.stringMatching(message) as string }) as Error;
const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

describe('the body of an account’s request', () => {
  it.each([undefined, null, 'text', []])('is an object, and not %j', (body) => {
    expect(() => parse(body)).toThrow(
      refused(/^The body is not a JSON object; allowed are the fields customer_id, /),
    );
  });

  it.each([
    [{ colour: 'red' }, /^"colour" is not a field that can be set; allowed are customer_id, /],
    [{ toString: 1 }, '"toString" is not a field'],
    [{ region: 'eu-west-1' }, /^region is "eu-west-1"; allowed is eu-central-1 or us-east-1\.$/],
    [{ region: 1 }, 'region is 1; allowed is eu-central-1'],
    [{ max_retries: 101 }, /^max_retries is 101; allowed is a whole number from 0 to 100, or null/],
    [{ active: 'yes' }, /^active is "yes"; allowed is true or false\.$/],
    [{ budget: -1 }, 'budget is -1; allowed is a whole number of dollars'],
    [{ failure_callback: 'ftp://a.example' }, 'failure_callback'],
    ...[
      'acme',
      [{ host: 'a.example' }],
      [{ host: 'a.example', ca: '../master' }],
      [{ host: 'a.example', ca: 'x'.repeat(65) }],
      [{ host: 'a.example', ca: '' }],
      [{ host: 'a.example', identity: 'acme', key: 'secret' }],
      ...[
        '',
        'https://a.example',
        'a.example:443',
        'a.example/x',
        'u@a.example',
        '*.a.example',
        'a b',
        '[::1',
      ].map((host) => [{ host, ca: 'x' }]),
      [
        { host: 'a.example', ca: 'x' },
        { host: 'A.example.', ca: 'y' },
      ],
      Array.from({ length: 51 }, (_, index) => ({ host: `a${index.toString()}.example`, ca: 'x' })),
    ].map((tls_identities): [object, RegExp] => [
      { tls_identities },
      /^tls_identities is .*; allowed is a list of up to 50 of {"host", "ca"\?, "identity"\?}, .*; or null\.$/,
    ]),
    [{ active: true, state: 'passive' }, 'active and state contradict each other'],
    [{ active: false, state: 'active' }, 'active and state contradict each other'],
  ])('is refused with the field: %j', (body, message) => {
    expect(() => parse(body)).toThrow(refused(message));
  });

  it.each([
    [
      'functions',
      841,
      '1 to 840 (5280 where the deployment has the setting longDelivery: instances), or null',
    ],
    ['instances', 5_281, '1 to 5280, or null'],
    ['machine', 43_201, '1 to 43200, or null'],
  ] as const)('is refused with a timeout longer than %s can wait: %d', (waits, timeout, allowed) => {
    const there = { ...deployment, longestTimeoutSeconds: longestTimeoutSeconds[waits] };
    expect(() => parseAccountInput({ timeout }, there)).toThrow(
      refused(`timeout is ${timeout}; allowed is a whole number from ${allowed}`.replaceAll(/[()]/g, '\\$&')),
    );
    expect(parseAccountInput({ timeout: timeout - 1 }, there)).toEqual({ timeout: timeout - 1 });
    expect(parseAccountInput({ timeout: null }, there)).toEqual({ timeout: null });
  });

  it('sets a timeout that is reduced if the deployment waits less', () => {
    const patient = withFields(account, { timeout: 5_280 }, now);
    const cut = {
      ...patient,
      longestTimeout: longestTimeoutSeconds.functions,
      limits: { ...patient.limits },
    };
    expect([patient, cut].map((one) => limitsOf(one).timeout)).toEqual([5_280, 840]);
    expect(accountRecord(cut, secret, now).timeout).toBe(840);
  });

  it.each([
    {},
    { region: 'us-east-1', type: 'paid', max_retries: 7 },
    { failure_callback: null },
    { active: true, state: 'active' },
    { active: false, state: 'passive' },
    { active: true },
    { state: 'passive' },
  ])('is accepted: %j', (body) => {
    expect(parse(body)).toEqual(body);
  });

  it('has no field for null if null has no meaning there', () => {
    expect(parse({ region: null, budget: null })).toEqual({});
  });

  it('has a callback in the form of a URL', () => {
    expect(parse({ failure_callback: ' https://A.example/x ' })).toEqual({
      failure_callback: 'https://a.example/x',
    });
  });

  it('has hosts in the form of URLs', () => {
    const hosts = ['Hooks.Acme.example.', 'münchen.example', '127.1', '[::0001]', '*'];
    expect(parse({ tls_identities: hosts.map((host) => ({ host, ca: 'a-Z_9' })) })).toEqual({
      tls_identities: ['hooks.acme.example', 'xn--mnchen-3ya.example', '127.0.0.1', '[::1]', '*'].map(
        (host) => ({
          host,
          ca: 'a-Z_9',
        }),
      ),
    });
  });

  it('may have an id, and no other unknown field', () => {
    const { id } = account;
    expect(parseNewAccount(new Uint8Array(), deployment)).toEqual({ id: undefined, input: {} });
    expect(parseNewAccount(bytes({ type: 'paid' }), deployment)).toEqual({
      id: undefined,
      input: { type: 'paid' },
    });
    expect(parseNewAccount(bytes({ id: id.toUpperCase(), type: 'paid' }), deployment)).toEqual({
      id,
      input: { type: 'paid' },
    });
    expect(parseNewAccount(bytes({ id: null }), deployment)).toEqual({ id: undefined, input: {} });
    expect(() => parseNewAccount(bytes({ id: 'mine' }), deployment)).toThrow(
      refused(/^id is "mine"; allowed is a UUID\.$/),
    );
    expect(() => parseNewAccount(bytes({ id: null, colour: 1 }), deployment)).toThrow(refused('"colour"'));
    expect(() => parseNewAccount(bytes(null), deployment)).toThrow(refused('The body is not a JSON object'));
    expect(() => parseNewAccount(bytes('id'), deployment)).toThrow(refused('The body is not a JSON object'));
    expect(() => parseNewAccount(Buffer.from('{'), deployment)).toThrow(refused('^The body'));
  });
});

describe('an account whose fields are set', () => {
  const full: Account = {
    ...account,
    customerId: 'team',
    createdBy: 'ops@acme.example',
    limits: { max_retries: 7 },
    budget: 20,
    reservedType: 'svc_fixed',
    reservedPrice: 9,
    prodPack: true,
    prometheus: true,
    enterprise: { enabled: true },
    circuit: { enabled: true, failures: 5 },
    lambdaDestinations: ['arn:aws:lambda:*:123456789012:function:orders'],
    tlsIdentities: [{ host: '*', ca: 'private' }],
    failureCallback: 'https://user:secret@a.example/',
  };

  it('keeps all fields that are not given', () => {
    expect(withFields(full, {}, now)).toEqual(full);
  });

  it('removes a value, or restores the plan’s, if null is given', () => {
    const nothing = {
      customer_id: null,
      created_by: null,
      type: null,
      region: null,
      active: null,
      state: null,
      budget: null,
      prod_pack_enabled: null,
      prometheus_enabled: null,
      reserved_type: null,
      reserved_price: null,
      enterprise: null,
      circuit: null,
      lambda_destinations: null,
      tls_identities: null,
      failure_callback: null,
      max_retries: null,
    } as const;
    const after = withFields(full, parse(nothing), now);
    expect(after).toEqual({
      ...full,
      limits: {},
      reservedType: undefined,
      reservedPrice: undefined,
      enterprise: undefined,
      circuit: undefined,
      lambdaDestinations: undefined,
      tlsIdentities: undefined,
      failureCallback: undefined,
    });
  });

  it('has the given values', () => {
    const input = parse({
      customer_id: 'others',
      created_by: 'b@acme.example',
      region: 'us-east-1',
      budget: 5,
      prod_pack_enabled: false,
      prometheus_enabled: 'false',
      reserved_type: '',
      reserved_price: 0,
      enterprise: { enabled: false },
      lambda_destinations: [],
      tls_identities: [{ host: 'a.example', identity: 'acme' }],
      failure_callback: 'https://b.example/',
      max_retries: 0,
      max_queues: 3,
    });
    expect(withFields(full, input, now)).toEqual({
      ...full,
      customerId: 'others',
      createdBy: 'b@acme.example',
      region: 'us-east-1',
      budget: 5,
      prodPack: false,
      prometheus: false,
      reservedType: '',
      reservedPrice: 0,
      enterprise: { enabled: false },
      lambdaDestinations: [],
      tlsIdentities: [{ host: 'a.example', identity: 'acme' }],
      failureCallback: 'https://b.example/',
      limits: { max_retries: 0, max_queues: 3 },
    });
    expect(withFields(account, parse({ prometheus_enabled: 'true' }), now).prometheus).toBe(true);
  });

  it('keeps a callback’s credentials if the callback is written back as it was shown', () => {
    const shown = accountRecord(full, secret, now).failure_callback;
    expect(shown).toBe('https://a.example/');
    expect(withFields(full, { failure_callback: shown }, now).failureCallback).toBe(full.failureCallback);
  });

  it('is active or passive, by either field, and records when that changed', () => {
    for (const input of [{ active: false }, { state: 'passive' }] as const)
      expect(withFields(account, input, now)).toMatchObject({
        active: false,
        state: 'passive',
        stateChangedAt: now,
      });
    const passive = { ...account, active: false, state: 'passive', stateChangedAt: 5 };
    expect(withFields(passive, { active: true }, now)).toMatchObject({ active: true, stateChangedAt: now });
    expect(withFields(passive, { budget: 1 }, now)).toMatchObject({ active: false, stateChangedAt: 5 });
    expect(withFields(passive, { state: 'passive' }, now).stateChangedAt).toBe(5);
  });

  it('records when it was upgraded, and only then', () => {
    expect(withFields(account, { type: 'paid' }, now)).toMatchObject({ plan: 'paid', planUpgradedAt: now });
    const paid: Account = { ...account, plan: 'paid', planUpgradedAt: 5 };
    for (const type of ['free', 'paid'] as const)
      expect(withFields(paid, { type }, now)).toMatchObject({ plan: type, planUpgradedAt: 5 });
    expect(withFields(account, { type: 'free' }, now).planUpgradedAt).toBeUndefined();
  });

  it('has no daily hard limit below the soft one', () => {
    const limits = (soft: number, hard: number) => ({
      max_requests_per_day: soft,
      max_requests_per_day_hard: hard,
    });
    expect(withFields(account, limits(10, 10), now).limits).toEqual(limits(10, 10));
    expect(() => withFields(account, limits(10, 9), now)).toThrow(
      refused(String.raw`max_requests_per_day_hard is 9; allowed is 10 \(max_requests_per_day\) or more\.`),
    );
  });

  it('has more partitions if it may send more messages', () => {
    const many = { max_requests_per_day: limitTable.max_requests_per_day.most };
    expect(withFields(account, many, now).shards).toBeGreaterThan(account.shards);
  });
});

describe('the record of an account', () => {
  it('shows its credentials and fields, with times in seconds', () => {
    const record = accountRecord({ ...account, planUpgradedAt: 2_999, deletedAt: 3_999 }, secret, now);
    expect(record).toMatchObject({
      id: account.id,
      token: tokenOf(secret, account, 'write'),
      read_only_token: tokenOf(secret, account, 'read'),
      active: true,
      state: 'active',
      last_plan_upgrade_time: 2,
      deletion_time: 3,
      creation_time: 1_789_999_998,
      prometheus_enabled: 'false',
      type: 'free',
      max_retries: limitTable.max_retries.free,
    });
    expect(accountRecord(account, secret, now)).toMatchObject({
      deletion_time: 0,
      last_plan_upgrade_time: undefined,
      lambda_destinations: undefined,
      tls_identities: undefined,
      failure_callback: undefined,
    });
    const lambdaDestinations = ['arn:aws:lambda:*:123456789012:function:orders'];
    const tlsIdentities = [{ host: '*', ca: 'private' }];
    expect(
      accountRecord({ ...account, prometheus: true, lambdaDestinations, tlsIdentities }, secret, now),
    ).toMatchObject({
      tls_identities: tlsIdentities,
      prometheus_enabled: 'true',
      lambda_destinations: lambdaDestinations,
    });
  });

  it.each([
    ['active', 'activated'],
    ['passive', 'suspended'],
    ['deleted', 'deleted'],
  ])('says that it is becoming %s while workers may not know it yet', (state, word) => {
    const changed = { ...account, state, stateChangedAt: now };
    const stateAt = (at: number) => accountRecord(changed, secret, at).modifying_state;
    expect(stateAt(now + accountLifetimeMs - 1)).toBe(word);
    expect(stateAt(now + accountLifetimeMs)).toBeUndefined();
    expect(accountRecord({ ...account, state }, secret, now).modifying_state).toBeUndefined();
  });
});
