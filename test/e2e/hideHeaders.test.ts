import { describe, expect, it } from 'vitest';
import { api, ok, unique } from '../support/api.ts';
import { getInAnyState } from '../support/listedMessages.ts';
import { makeGroup } from '../support/groups.ts';
import { errorOf, messageIdOf, publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

/** Returns the service’s headers of either dialect, without their prefix. */
const ownOf = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(headers)
    .filter((name) => /^(svc|upstash|webhook)-/.test(name))
    .map((name) => name.replace(/^(svc|upstash)-/, ''))
    .sort();

const signatures = ['signature', 'webhook-id', 'webhook-signature', 'webhook-timestamp'];

describe('a delivery with hidden headers', () => {
  it.each(['Svc', 'Upstash'])('has only the signatures: %s', async (prefix) => {
    const [one, other] = [receiver.inbox(), receiver.inbox()];
    const topicName = await makeGroup([{ url: one.url, name: 'one' }]);
    const headers = {
      [`${prefix}-Hide-Headers`]: 'true',
      [`${prefix}-Forward-X-Tenant`]: 'acme',
      [`${prefix}-Callback`]: other.url,
    };
    const answer = await publish(topicName, { headers });
    expect(answer.status).toBe(200);
    const [delivery] = await one.received(1);
    // A publish in this dialect is signed in the other one, too.
    expect([...new Set(ownOf(delivery?.headers ?? {}))]).toEqual(signatures);
    expect(delivery?.headers['x-tenant']).toBe('acme');
    // The callback goes to the publisher’s own receiver.
    const [callback] = await other.received(1);
    expect(ownOf(callback?.headers ?? {})).toContain('message-id');
  });

  it('may be a callback, a group’s default, or a schedule’s', async () => {
    const [one, other] = [receiver.inbox(), receiver.inbox()];
    const topicName = await makeGroup([{ url: one.url }]);
    await ok(
      api('PATCH', `/v2/topics/${topicName}`, {
        body: { headers: { 'Svc-Hide-Headers': 'true', 'Svc-Callback-Hide-Headers': 'true' } },
      }),
    );
    await ok(publish(topicName, { headers: { 'Svc-Callback': other.url } }));
    for (const inbox of [one, other]) {
      const [delivery] = await inbox.received(1);
      expect([...new Set(ownOf(delivery?.headers ?? {}))]).toEqual(signatures);
    }
    const scheduleId = unique('hidden');
    const headers = { 'Svc-Cron': '0 0 1 1 *', 'Svc-Schedule-Id': scheduleId, 'Svc-Hide-Headers': 'true' };
    const third = receiver.inbox();
    await ok(api('POST', `/v2/schedules/${third.url}`, { headers }));
    await ok(api('POST', `/v2/schedules/${scheduleId}/run`));
    const [delivery] = await third.received(1);
    expect([...new Set(ownOf(delivery?.headers ?? {}))]).toEqual(signatures);
    expect(await ok(api('GET', `/v2/schedules/${scheduleId}`))).toMatchObject({ hideHeaders: true });
    await ok(api('DELETE', `/v2/schedules/${scheduleId}`));
  });

  it('is shown with its message, and accepts only true and false', async () => {
    const headers = { 'Svc-Hide-Headers': 'TRUE', 'Svc-Delay': '1h' };
    const messageId = messageIdOf(await publish(receiver.origin, { headers }));
    expect(await getInAnyState(messageId)).toMatchObject({ hideHeaders: true });
    await ok(api('DELETE', `/v2/messages/${messageId}`));
    const refused = await publish(receiver.origin, { headers: { 'Svc-Hide-Headers': 'yes' } });
    expect(errorOf(refused)).toBe('Svc-Hide-Headers is "yes"; allowed are true and false.');
  });
});
