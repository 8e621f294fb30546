import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { newAccount } from '../../../lambdas/account/account.ts';
import type * as alarmModule from '../../../lambdas/alarm/alarm.ts';
import type * as findModule from '../../../lambdas/alarm/find.ts';
import type * as shapeModule from '../../../lambdas/alarm/shape.ts';
import { useFixture } from '../../support/useFixture.ts';
import { followGuide } from './followGuide.ts';

const guide = followGuide('Add an alarm', { include: ['lambdas/alarm'] });
afterAll(guide.remove);
useFixture(async () => {});

describe('an alarm that is added according to the guide', () => {
  it('is required by the compiler where it is missing, and touches three files', () => {
    guide.add('lambdas/wire/alarms.ts');
    expect(guide.compile()).toMatch(/find\.ts.* Property 'silence' is missing in type/);
    guide.add();
    expect(guide.compile()).toBe('');
    expect(guide.files).toHaveLength(3);
  });

  it('is read, refused and found', async () => {
    const { alarmSettings, allowedAt } = await guide.load<typeof shapeModule>('lambdas/alarm/shape.ts');
    const { alarms } = await guide.load<typeof alarmModule>('lambdas/alarm/alarm.ts');
    const { findConditions } = await guide.load<typeof findModule>('lambdas/alarm/find.ts');
    const given = { url: 'https://example.com/', format: 'json', silence: true };
    expect(alarmSettings.parse(given)).toMatchObject({ silence: true });
    expect(alarmSettings.safeParse({ ...given, silence: 1 }).success).toBe(false);
    expect(allowedAt('silence')).toBe('true or false');
    expect(allowedAt('')).toContain('"silence"?');
    const settings = alarms.shape.settings.parse({ ...given, headers: [] });
    const account = newAccount({ id: randomUUID(), plan: 'paid', region: 'eu-central-1', createdAt: 0 });
    const { found } = await findConditions(account, settings);
    expect(found).toMatchObject([{ kind: 'silence', title: 'No messages today' }]);
  });
});
