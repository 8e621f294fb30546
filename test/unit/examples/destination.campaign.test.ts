import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type * as sendingModule from '../../../lambdas/delivery/client/sending.ts';
import type * as destinationModule from '../../../lambdas/destination/destination.ts';
import type * as shapesModule from '../../../lambdas/management/accountShapes.ts';
import type * as settingTypesModule from '../../../lib/settingTypes.ts';
import type { Fixture } from '../../support/fixture.ts';
import { useFixture } from '../../support/useFixture.ts';
import { followGuide } from './followGuide.ts';

const guide = followGuide('Add a kind of destination', {
  like: ['dynamodb', 'events'],
  include: ['lambdas/delivery/client', 'lambdas/destination', 'lib/settingTypes.ts'],
});
afterAll(guide.remove);

let fixture: Fixture;
useFixture((opened) => {
  fixture = opened;
});

const arn = 'arn:aws:dynamodb:eu-central-1:123456789012:table/';

describe('a kind of destination that is added according to the guide', () => {
  it('is required by the compiler where it is missing, and touches four files', () => {
    guide.add('lambdas/destination/arns.ts');
    expect(guide.compile()).toMatch(/sending\.ts.* Property 'dynamodb' is missing in type/);
    guide.add();
    expect(guide.compile()).toBe('');
    expect(guide.files).toHaveLength(4);
  });

  it('is allowed, refused and described', async () => {
    const { parseAddress } = await guide.load<typeof destinationModule>('lambdas/destination/destination.ts');
    expect(parseAddress('callback', `${arn}orders`)).toBe(`${arn}orders`);
    expect(() => parseAddress('callback', arn)).toThrow('…:dynamodb:…:table/<name>');
    const types = await guide.load<typeof settingTypesModule>('lib/settingTypes.ts');
    expect(types.destinationPattern.test(`${arn}orders-*`)).toBe(true);
    expect(types.allowedDestinationPattern).toContain('a DynamoDB table');
    expect(types.ownKindOf(`${arn}Svc-*`, 'Svc')).toBe('table');
    const { accountFields } = await guide.load<typeof shapesModule>('lambdas/management/accountShapes.ts');
    expect(accountFields.destinations.safeParse([`${arn}orders-*`]).success).toBe(true);
  });

  it('gets messages', async () => {
    const { sendToArn } = await guide.load<typeof sendingModule>('lambdas/delivery/client/sending.ts');
    const table = `${arn}${fixture.settings.accountsTable}`;
    const request = { method: 'POST', headers: [], timeoutMs: 30_000, maxResponseBytes: 1_000 } as const;
    const message = { url: table, accountId: 'one', callerIp: '192.0.2.1', prefix: 'Svc', headers: [] };
    const sent = { ...message, messageId: randomUUID() };
    const allowed = { deployment: [`${arn}*`], account: ['*'] };
    expect(await sendToArn({ ...request, body: Buffer.from('work') }, sent, allowed)).toMatchObject({
      status: 200,
    });
    const body = Buffer.alloc(400_000);
    expect(await sendToArn({ ...request, body }, sent, allowed)).toMatchObject({
      status: 413,
      error: expect.stringContaining('DynamoDB takes 400000 at most.') as string,
    });
  });
});
