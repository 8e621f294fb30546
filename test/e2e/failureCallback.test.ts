import { describe, expect, it } from 'vitest';
import { changeAccount, makeAccount, manage, publishAs } from '../support/accounts.ts';
import { callbackOf } from '../support/callbacks.ts';
import { checkAnswer } from '../support/contract.ts';
import { messageIdOf, refusalOf } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
const test = (id: string) => manage('POST', `/v2/svc/users/${id}/failure-callback/test`);

describe('the failure callback of an account', () => {
  it('reports a message that has failed permanently', async () => {
    const told = receiver.inbox();
    const account = await makeAccount({ failure_callback: told.url });
    const failing = receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
    const messageId = messageIdOf(
      await publishAs(account, failing.url, { body: 'work', headers: { 'Svc-Retries': '0' } }),
    );
    const [delivery] = await told.received(1);
    expect(delivery?.headers['content-type']).toBe('application/json');
    expect(callbackOf(delivery ?? expect.fail('Nothing came.'))).toMatchObject({
      sourceMessageId: messageId,
      status: 500,
      sourceBody: Buffer.from('work').toString('base64'),
      url: failing.url,
    });
  });

  it('is tested with an invented failure, which is signed like a delivery', async () => {
    const told = receiver.inbox((_delivery, response) => response.writeHead(202).end('thanks'));
    const { id } = await makeAccount({ failure_callback: told.url });
    const answer = await test(id);
    expect(answer).toMatchObject({ status: 200, json: { status: 202, body: 'thanks' } });
    checkAnswer('POST /v2/{brand}/users/{id}/failure-callback/test', answer);
    const [delivery] = await told.received(1);
    expect(delivery?.headers).toMatchObject({ 'svc-signature': expect.stringMatching(/^ey/) as string });
    expect(callbackOf(delivery ?? expect.fail('Nothing came.')).error).toMatch(/test/);
  });

  it('says in a test why there is no answer', async () => {
    const { id } = await makeAccount({ failure_callback: 'http://127.0.0.1:1/' });
    expect(await test(id)).toMatchObject({
      status: 200,
      json: { status: 0, error: expect.stringContaining('ECONNREFUSED') as string },
    });
  });

  it('shows no credentials, and keeps them if it is written back as it was shown', async () => {
    const told = receiver.inbox();
    const withUser = told.url.replace('//', '//me:secret@');
    const account = await makeAccount({ failure_callback: withUser });
    expect(account).toMatchObject({ failure_callback: told.url });
    await changeAccount(account.id, { failure_callback: told.url });
    await test(account.id);
    const [delivery] = await told.received(1);
    expect(delivery?.headers['authorization']).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`);
  });

  it.each([
    ['ftp://example.com', 400, 'destination_invalid'],
    ['http://10.0.0.1/', 403, 'destination_not_allowed'],
    [5, 400, 'field_invalid'],
  ])('must not be %j: %i', async (failure_callback, status, code) => {
    const { id } = await makeAccount();
    const refused = await manage('PATCH', `/v2/svc/users/${id}`, { body: { failure_callback } });
    expect([refused.status, refusalOf(refused).code]).toEqual([status, code]);
    expect(refusalOf(refused).error).toContain('failure_callback');
    expect(refusalOf(await test(id))).toMatchObject({ code: 'wrong_state' });
  });
});
