import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parsePublishOptions, type PublishOptions } from '../../../lambdas/request/publishOptions.ts';
import { settingsRecord } from '../../../lambdas/message/records.ts';
import { newAccount } from '../../../lambdas/account/account.ts';
import { answered, fields, settings } from '../../../lambdas/options/described.ts';
import type { FormField, Setting } from '../../../lambdas/options/option.ts';
import { stored, writeOptions } from '../../../lambdas/options/options.ts';

const folder = join(import.meta.dirname, '../../../lambdas/options');
const lists = ['option.ts', 'options.ts', 'described.ts'];
const files = readdirSync(folder).filter((file) => !lists.includes(file));
const kept: readonly unknown[] = Object.values(stored);

describe.each(files)('the record in %s', (file) => {
  const record = import(join(folder, file)) as Promise<Readonly<Record<string, object | undefined>>>;

  it.each([
    ['settings', settings],
    ['answer', answered],
    ['fields', fields],
  ])('has all of its %s in the complete list', async (part, list) => {
    expect(list).toMatchObject((await record)[part] ?? {});
  });

  it('is kept in rows where it says so', async () => {
    const { stored: shape } = await record;
    expect(shape === undefined || kept.includes(shape)).toBe(true);
  });
});

const account = newAccount({ id: 'one', plan: 'paid', region: 'eu-central-1', createdAt: 0 });
const rules = {
  allowed: { hosts: new Set<string>(), networks: [] },
  own: new Set<string>(),
  arns: { deployment: [], account: [] },
};
const parse = (config: Readonly<Record<string, string | undefined>>): PublishOptions => {
  const given = Object.entries(config).flatMap(([name, value]): [string, [string]][] =>
    value === undefined ? [] : [[name, [value]]],
  );
  return parsePublishOptions(
    { prefix: 'Svc', config: new Map(given), otherHeaders: [] },
    account,
    rules,
    1_767_225_000_000,
  );
};

/** Settings that no answer shows as they were given. */
const notShown = [
  'delay',
  'not-before',
  'forward-*',
  'header-forward',
  'redact-fields',
  'deduplication-id',
  'content-based-deduplication',
  'debounce',
  'debounce-id',
  'debounce-max',
];
const entries: readonly (readonly [string, Setting])[] = Object.entries(settings);
const ofMessages = entries.filter(([, { scopes }]) => scopes.includes('message'));

describe('the settings of a message', () => {
  it.each(ofMessages.filter(([name]) => !notShown.includes(name)))(
    'can be written again from what an answer shows: %s',
    (name, { example }) => {
      const both = name.startsWith('flow-control-')
        ? { 'flow-control-key': 'tenant-7', 'flow-control-value': 'parallelism=3, rate=10, period=60' }
        : { [name]: example };
      const options = parse(both);
      expect(options).not.toEqual(parse({}));
      expect(parse(writeOptions(settingsRecord(options)))).toEqual(options);
    },
  );

  it('include redaction if an answer shows hashes', () => {
    const header = { 'Content-Type': ['text/plain'], 'X-Key': [`REDACTED:${'0'.repeat(64)}`] };
    const shown = { ...settingsRecord(parse({})), header };
    expect(writeOptions(shown)).toMatchObject({ 'redact-fields': 'header[x-key]' });
    expect(writeOptions({ ...shown, body: 'REDACTED:00' })).toMatchObject({
      'redact-fields': 'body,header[x-key]',
    });
    expect(writeOptions({ ...shown, header: {} })['redact-fields']).toBeUndefined();
  });

  it.each(ofMessages.filter(([name]) => !['forward-*', 'header-forward'].includes(name)))(
    'have a field in forms: %s',
    (name) => {
      expect(fields).toHaveProperty([name]);
    },
  );

  it('have a field in the form for resuming a run, if resuming may change them', () => {
    const ofRuns = Object.entries<Setting>(settings).flatMap(([name, { scopes }]) =>
      scopes.includes('resume') ? name : [],
    );
    const shown = Object.entries<FormField>(fields).flatMap(([name, { isOfRun }]) => (isOfRun ? name : []));
    expect(new Set(shown)).toEqual(new Set(ofRuns));
  });
});
