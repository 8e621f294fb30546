import { describe, expect, it } from 'vitest';
import { parseStep } from '../../../../lambdas/workflow/rules/step.ts';

const named = { stepName: 'one', stepType: 'Run', concurrent: 1 };
const parse = (step: unknown) => parseStep(Buffer.from(JSON.stringify(step)));

describe('a step', () => {
  it.each([1, null, true, ['a'], { a: { b: 1 } }])('has the result %j of an older client as JSON', (out) => {
    expect(parse({ ...named, stepId: 2, out })).toEqual({
      kind: 'result',
      ...named,
      stepId: 2,
      out: JSON.stringify(out),
    });
  });

  it('is a result if it has an id', () => {
    const step = { ...named, stepId: 2, out: '"done"', more: 'of a newer client' };
    expect(parse(step)).toEqual({ kind: 'result', ...named, stepId: 2, out: '"done"' });
    expect(parse({ ...named, stepId: 2, targetStep: 0 })).toMatchObject({ kind: 'result', stepId: 2 });
  });

  it('is a plan if it names the step that it announces', () => {
    const plan = { ...named, stepId: 0, targetStep: 3, concurrent: 2, stepType: 'SleepFor', sleepFor: '10m' };
    expect(parse(plan)).toEqual({
      kind: 'plan',
      stepId: 3,
      stepName: 'one',
      stepType: 'SleepFor',
      concurrent: 2,
      sleepFor: '10m',
    });
  });

  it('may have a name of 1,024 characters of any kind', () => {
    for (const stepName of ['x'.repeat(1_024), '漢'.repeat(1_024), '😀'.repeat(512)]) {
      expect(parse({ ...named, stepName, stepId: 1 })).toMatchObject({ stepName });
    }
  });

  it('has times in whole milliseconds, which every store accepts', () => {
    const times = { stepId: 1, sleepFor: 5e-324, sleepUntil: 1e-320, timeout: ' 1.5s ' };
    expect(parse({ ...named, ...times })).toMatchObject({
      sleepFor: 0.001,
      sleepUntil: 0.001,
      timeout: '1.5s',
    });
  });

  it('that creates a webhook names it', () => {
    const eventId = 'evt_4Tq8Zk0mJx7p2Y-';
    const out = JSON.stringify({ webhookUrl: 'https://api.example/', eventId });
    const step = { ...named, stepType: 'CreateWebhook', stepId: 1 };
    expect(parse({ ...step, out })).toMatchObject({ webhookId: eventId });
    const plan = parse({ ...step, stepId: 0, targetStep: 1, concurrent: 2 });
    expect(plan).not.toHaveProperty('webhookId');
  });

  it('may sleep until a time with a fraction', () => {
    const sleep = { ...named, stepType: 'SleepUntil', stepId: 1, sleepUntil: 1_790_000_000.25 };
    expect(parse(sleep)).toMatchObject({ sleepUntil: 1_790_000_000.25 });
  });

  it.each([
    ['no JSON', undefined, 'The step is not JSON'],
    ['no object', [], 'The step'],
    ['neither id nor target', { ...named, stepId: 0 }, 'neither a stepId nor a targetStep'],
    ['both', { ...named, stepId: 1, targetStep: 2 }, 'both stepId 1 and targetStep 2'],
    ['a fraction for an id', { ...named, stepId: 1.5 }, 'stepId'],
    ['no name', { ...named, stepName: '', stepId: 1 }, 'stepName'],
    ['an unknown type', { ...named, stepType: 'Fly', stepId: 1 }, 'stepType'],
    ['the initial one', { ...named, stepType: 'Initial', stepId: 1 }, 'stepType'],
    ['no branches', { ...named, concurrent: 0, stepId: 1 }, 'concurrent'],
    // The client throws for these when it reads the list.
    [
      'a name that is too long',
      { ...named, stepName: 'x'.repeat(1_025), stepId: 1 },
      'stepName: allowed are 1 to 1024',
    ],
    ['a name with half an emoji', { ...named, stepName: 'a\ud83d', stepId: 1 }, 'stepName: it has half'],
    [
      'more branches than entries',
      { ...named, stepId: 1, concurrent: 10_001 },
      'concurrent: allowed is a whole number from 1 to 10000',
    ],
    [
      'a number beyond all entries',
      { ...named, stepId: 10_001 },
      'stepId: allowed is a whole number from 0 to 10000',
    ],
    [
      'a target beyond all entries',
      { ...named, stepId: 0, targetStep: 1e300 },
      'targetStep: allowed is a whole number',
    ],
    ['a sleep without end', { ...named, stepId: 1, sleepFor: 1e308 }, 'sleepFor: allowed are seconds'],
    ['a sleep backwards', { ...named, stepId: 1, sleepFor: -1 }, 'sleepFor: allowed are seconds'],
    [
      'an unreadable sleep',
      { ...named, stepId: 1, sleepFor: 'x'.repeat(400_000) },
      'sleepFor: allowed are seconds',
    ],
    [
      'a moment beyond all dates',
      { ...named, stepId: 1, sleepUntil: 1e308 },
      'sleepUntil: allowed are Unix seconds',
    ],
    [
      'a moment before them',
      { ...named, stepId: 1, sleepUntil: -1e308 },
      'sleepUntil: allowed are Unix seconds',
    ],
    ['an unreadable timeout', { ...named, stepId: 1, timeout: 'soon' }, 'timeout: allowed are seconds'],
    ['a long event', { ...named, stepId: 1, waitEventId: 'x'.repeat(257) }, 'The id of the event'],
    ['half an event', { ...named, stepId: 1, waitEventId: '\ud83d' }, 'The id of the event'],
    ['no webhook', { ...named, stepType: 'CreateWebhook', stepId: 1 }, 'out names no webhook'],
  ])('is refused with 412, so that its run fails visibly: %s', (_name, step, text) => {
    const body = step === undefined ? Buffer.from('{') : Buffer.from(JSON.stringify(step));
    expect(() => parseStep(body)).toThrow(expect.objectContaining({ status: 412 }));
    expect(() => parseStep(body)).toThrow(text);
  });
});
