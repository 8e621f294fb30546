import { describe, expect, it } from 'vitest';
import type { RunSettings } from '../../../../lambdas/options/options.ts';
import { parseFeatures } from '../../../../lambdas/workflow/rules/features.ts';
import { ownSettings, settingsFor } from '../../../../lambdas/workflow/rules/runSettings.ts';

const forAll = parseFeatures('LazyFetch,WF_TriggerOnConfig');
const forEach = parseFeatures('LazyFetch');
const ofRun: RunSettings = { maxRetries: 7, retryDelay: '1000', labels: ['run'] };
const own = { maxRetries: 1, labels: ['own'], delayMs: 5 };

describe('the settings of a run', () => {
  it('apply to all its messages if the client gives them at the start', () => {
    for (const kind of ['submission', 'callResult', 'start', 'invoke'] as const)
      expect(settingsFor(kind, forAll, ofRun, own)).toEqual({ ...own, ...ofRun });
    expect(ownSettings(forAll, own)).toBeUndefined();
  });

  it('apply to single messages if an older client gives them with each', () => {
    expect(settingsFor('submission', forEach, ofRun, own)).toBe(own);
    expect(ownSettings(forEach, own)).toMatchObject({ maxRetries: 1, labels: ['own'] });
    expect(ownSettings(forEach, own)).not.toHaveProperty('delayMs');
  });

  it('do not apply to a call, nor to its failure message', () => {
    for (const kind of ['call', 'failureRequest'] as const)
      expect(settingsFor(kind, forAll, ofRun, own)).toBe(own);
  });
});
