import { describe, expect, it } from 'vitest';
import { makeGroup } from '../support/groups.ts';
import { publish } from '../support/publish.ts';
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
});
