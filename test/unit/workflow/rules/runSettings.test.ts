import { describe, expect, it } from 'vitest';
import type { RunSettings } from '../../../../lambdas/options/options.ts';
import { parseFeatures } from '../../../../lambdas/workflow/rules/features.ts';
import { ownSettings, settingsOfAnswer } from '../../../../lambdas/workflow/rules/runSettings.ts';

const forAll = parseFeatures('LazyFetch,WF_TriggerOnConfig');
const forEach = parseFeatures('LazyFetch');
const ofRun: RunSettings = { maxRetries: 7, retryDelay: '1000', labels: ['run'] };
const own = { maxRetries: 1, labels: ['own'], delayMs: 5 };

describe('the settings of a run', () => {
  it('apply to all its messages if the client gives them at the start', () => {
    expect(settingsOfAnswer(forAll, ofRun, own)).toEqual({ ...own, ...ofRun });
    expect(ownSettings(forAll, own)).toBeUndefined();
  });

  it('apply to single messages if an older client gives them with each', () => {
    expect(settingsOfAnswer(forEach, ofRun, own)).toBe(own);
    expect(ownSettings(forEach, own)).toMatchObject({ maxRetries: 1, labels: ['own'] });
    expect(ownSettings(forEach, own)).not.toHaveProperty('delayMs');
  });
});
