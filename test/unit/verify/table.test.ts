import { expect, it } from 'vitest';
import { isGood, type Outcome, runCheck, Shortfall, Skipped } from '../../../verify/check.ts';
import { jsonOf, tableOf } from '../../../verify/table.ts';

const good: Outcome = { check: 'names', region: 'eu-central-1', result: 'good', seen: '27 names are free' };
const skipped: Outcome = { check: 'drift', region: 'us-east-1', result: 'skipped', seen: 'no such thing' };
const short: Outcome = {
  check: 'bootstrap',
  region: 'us-east-1',
  result: 'short',
  seen: 'There is none.',
  remedy: 'Run npx cdk bootstrap.',
};

it('The table has a line for each outcome, and the remedy below each bad one', () => {
  expect(tableOf([good, short, skipped])).toBe(
    [
      'good     names      eu-central-1  27 names are free',
      'SHORT    bootstrap  us-east-1     There is none.',
      '                                  -> Run npx cdk bootstrap.',
      'skipped  drift      us-east-1     no such thing',
      '',
      '1 good, 1 short, 1 skipped. This is not as it has to be.',
    ].join('\n'),
  );
});

it.each([
  [[good, skipped], true],
  [[good, short], false],
  [[skipped], false],
  [[], false],
])('%j is good: %s', (outcomes, expected) => {
  expect(isGood(outcomes)).toBe(expected);
  expect(JSON.parse(jsonOf(outcomes))).toEqual({ good: expected, outcomes });
});

const context = { region: 'eu-central-1', isEmulator: false };
const check = { name: 'it', shows: 'it holds', remedy: 'Mend it.' };

it.each([
  [() => Promise.resolve('seen'), { result: 'good', seen: 'seen' }],
  [
    () => Promise.reject(new Shortfall('It is not.')),
    { result: 'short', seen: 'It is not.', remedy: 'Mend it.' },
  ],
  [() => Promise.reject(new Skipped('There is none.')), { result: 'skipped', seen: 'There is none.' }],
  [
    () => Promise.reject(new TypeError('of ours')),
    { result: 'short', seen: 'TypeError: of ours', remedy: 'Mend it.' },
  ],
])('A check ends as one of three: %#', async (run, outcome) => {
  expect(await runCheck({ ...check, run }, context)).toEqual({
    check: 'it',
    region: 'eu-central-1',
    ...outcome,
  });
});

it('Checks that an emulator cannot make are skipped there, with the reason', async () => {
  const onAws = { ...check, notOnEmulator: 'It has none.', run: () => Promise.resolve('seen') };
  const outcome = await runCheck(onAws, { ...context, isEmulator: true });
  expect(outcome).toMatchObject({ result: 'skipped', seen: 'It has none.' });
  expect(await runCheck(onAws, context)).toMatchObject({ result: 'good' });
});
