import { describe, expect, it } from 'vitest';
import { changeAccount, makeAccount } from '../support/accounts.ts';
import { api, deadLettered, ok, query } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { addEndpoints, makeGroup, setDefaults } from '../support/groups.ts';
import { getInAnyState } from '../support/listedMessages.ts';
import { messageIdOf, publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
const deadLetterOf = async (messageId: string) => (await deadLettered({ messageId }, 1))[0];
const isDead = (messageId: string, token: string) =>
  eventually(
    () => ok(api('GET', `/v2/dlq${query({ messageId })}`, { token })),
    (page) => JSON.stringify(page).includes(messageId),
  );

const answering = (status: number) =>
  receiver.inbox((_delivery, response) => response.writeHead(status).end());

describe('an answer without a retry', () => {
  it('is one in the message’s list, which its record shows', async () => {
    const inbox = answering(404);
    const headers = { 'Svc-Fail-On': '400-499, !408', 'Svc-Retry-Delay': '1000', 'Svc-Retries': '3' };
    const messageId = messageIdOf(await publish(inbox.url, { headers }));
    expect(await deadLetterOf(messageId)).toMatchObject({ responseStatus: 404, failOn: '400-499,!408' });
    expect(inbox.deliveries).toHaveLength(1);
    expect(await getInAnyState(messageId)).toMatchObject({ failOn: '400-499,!408' });
  });

  it('is one in the account’s list, if the message has none', async () => {
    const account = await makeAccount({ fail_on: '400 - 404' });
    const inbox = answering(403);
    const headers = { 'Svc-Retry-Delay': '1', 'Svc-Retries': '1' };
    const { token } = account;
    const failed = messageIdOf(await publish(inbox.url, { token, headers }));
    await isDead(failed, token);
    expect(inbox.deliveries).toHaveLength(1);
    const own = { ...headers, 'Svc-Fail-On': '500' };
    const retried = messageIdOf(await publish(inbox.url, { token, headers: own }));
    await isDead(retried, token);
    expect(inbox.deliveries).toHaveLength(3);
    expect(await changeAccount(account.id, { fail_on: null })).not.toHaveProperty('fail_on');
  });
});

describe('a group whose default is to remove endpoints that are gone', () => {
  it('removes an endpoint that answers 410, with a dead letter and an entry in the audit trail', async () => {
    const [gone, well] = [answering(410), answering(200)];
    const name = await makeGroup([{ url: gone.url, name: 'gone' }, { url: well.url }]);
    await setDefaults(name, { 'Svc-Gone': 'remove', 'Svc-Retry-Delay': '1' });
    const published = await publish(name);
    const ids = published.json as readonly { readonly messageId: string; readonly url: string }[];
    const failed = ids.find(({ url }) => url === gone.url);
    expect(await deadLetterOf(failed?.messageId ?? '')).toMatchObject({ responseStatus: 410 });
    await eventually(
      () => ok(api('GET', `/v2/topics/${name}`)),
      (group) => JSON.stringify(group).includes(well.url) && !JSON.stringify(group).includes(gone.url),
    );
    expect(gone.deliveries).toHaveLength(1);
    const trail = await ok(api('GET', `/v2/audit?subject=${name}&actor=service`));
    expect(trail).toMatchObject({ entries: [{ action: 'urlGroup.removeEndpoints', subject: name }] });
    // If the endpoint is added again, it stays in the group until its next 410.
    await addEndpoints(name, [{ url: gone.url, name: 'gone' }]);
    expect(await ok(publish(name))).toHaveLength(2);
  });
});
