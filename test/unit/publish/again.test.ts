import { describe, expect, it, vi } from 'vitest';
import { dayMs } from '../../../lambdas/shared/clock.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { noFilter } from '../../support/filters.ts';
import { useFixture } from '../../support/useFixture.ts';
import { configOf, idOf, idsOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
const importServices = async () => ({
  ...(await import('../../../lambdas/publish/again.ts')),
  ...(await import('../../../lambdas/publish/messages.ts')),
  ...(await import('../../../lambdas/publish/listMessages.ts')),
  endMessage: (await import('../../../lambdas/message/messages.ts')).endMessage,
});
let services: Awaited<ReturnType<typeof importServices>>;
useFixture(async (opened) => {
  fixture = opened;
  services = await importServices();
});

const asItWas = { prefix: 'Svc', config: configOf({}), host: 'api.example.com', callerIp: '203.0.113.7' };
const again = async (messageId: string): Promise<string> =>
  idOf(await services.publishAgain(fixture.account, messageId, asItWas));

async function delivered(body = 'work') {
  const inbox = fixture.receiver.inbox();
  const messageId = await fixture.send(inbox.url, {}, body);
  await fixture.doJobs();
  fixture.reset();
  return { inbox, messageId };
}

describe('publishing a message again', () => {
  it('makes two more AWS calls than a publish: it reads the original message, and names the new one in it', async () => {
    const { messageId } = await delivered();
    // Stopped, because usage is read once a minute.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    await fixture.readUsage(fixture.account);
    fixture.reset();
    await fixture.send('https://example.com/');
    const calls = fixture.calls();
    fixture.reset();
    const retriedAs = await again(messageId);
    expect(fixture.operations()['QueryCommand']).toBe(1);
    expect(fixture.operations()['UpdateItemCommand']).toBe(1);
    expect(fixture.calls()).toBe(calls + 2);
    expect(await services.getMessageInAnyState(fixture.account, messageId)).toMatchObject({ retriedAs });
    expect(await services.getMessageInAnyState(fixture.account, retriedAs)).toMatchObject({
      retriedFrom: messageId,
    });
    await fixture.drain();
  });

  itAtEachDeath(
    'leaves the message as it was and can be repeated when its process dies at any of its AWS calls',
    async (fate) => {
      const { inbox, messageId } = await delivered();
      const before = await services.getMessageInAnyState(fixture.account, messageId);
      await fixture.underFate(fate, () => again(messageId));
      const repeated = await again(messageId);
      await fixture.doJobs();
      // The message of the dead process may have been accepted before.
      expect(idsOf(inbox.deliveries)).toContain(repeated);
      expect([2, 3]).toContain(inbox.deliveries.length);
      expect(new Set(inbox.deliveries.map(({ body }) => body.toString()))).toEqual(new Set(['work']));
      expect(await services.getMessageInAnyState(fixture.account, messageId)).toEqual({
        ...before,
        retriedAs: repeated,
      });
    },
  );

  it('is refused for a message that was not accepted, which no list shows', async () => {
    const messageId = await fixture.send('https://example.com/', { delay: '1h', label: 'rejected' });
    const history = await fixture.loadMessage({ accountId: fixture.account.id, messageId });
    if (history === undefined) throw new Error('The message is not there.');
    const labelled = { ...noFilter, values: new Map([['label', new Set(['rejected'])]] as const) };
    const listed = async () => (await services.listMessages(fixture.account, labelled)).messages.length;
    expect(await listed()).toBe(1);
    await services.endMessage(history.message, 'REJECTED', Date.now());
    expect(await listed()).toBe(0);
    expect(
      (await services.listMessages(fixture.account, { ...noFilter, ids: [messageId] })).messages,
    ).toEqual([]);
    await expect(again(messageId)).rejects.toMatchObject({ status: 404 });
    const shown = services.getMessageInAnyState(fixture.account, messageId);
    await expect(shown).rejects.toMatchObject({ status: 404 });
    await fixture.drain();
  });

  it('is refused once the message has expired, which is shown without its body until then', async () => {
    const { messageId } = await delivered('x'.repeat(60_000));
    const kept = await services.getMessageInAnyState(fixture.account, messageId);
    expect(kept.body).toHaveLength(60_000);
    const { now } = Date;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 120 * dayMs);
    await expect(again(messageId)).rejects.toMatchObject({
      status: 404,
      message: `The body of "${messageId}" is no longer kept.`,
    });
    const { body: _body, ...rest } = kept;
    expect(await services.getMessageInAnyState(fixture.account, messageId)).toEqual(rest);
  });
});
