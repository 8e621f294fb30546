import { expect, it } from 'vitest';
import { api } from '../support/api.ts';
import { messageIdOf, publish } from '../support/publish.ts';
import type { Inbox } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
const traceOf = (id: number) => ({
  traceparent: `00-4bf92f3577b34da6a3ce929d0e0e47${id}-00f067aa0ba902b7-01`,
  tracestate: `vendor=${id}`,
});
const tracesAt = async (inbox: Inbox, count: number) =>
  (await inbox.received(count)).map(({ headers: { traceparent, tracestate } }) => ({
    traceparent,
    tracestate,
  }));

it('A trace continues from a publish to its deliveries, retries and callbacks', async () => {
  const inbox = receiver.inbox((_delivery, response, count) =>
    response.writeHead(count === 0 ? 500 : 200).end(),
  );
  const [callback, own] = [receiver.inbox(), receiver.inbox()];
  const trace = traceOf(10);
  const headers = { ...trace, 'Svc-Retry-Delay': '0', 'Svc-Callback': callback.url };
  messageIdOf(await publish(inbox.url, { headers }));
  expect(await tracesAt(inbox, 2)).toEqual([trace, trace]);
  expect(await tracesAt(callback, 2)).toEqual([trace, trace]);
  // A forwarded trace wins, and the other trace’s state is not forwarded with it.
  const { traceparent } = traceOf(11);
  messageIdOf(await publish(own.url, { headers: { ...trace, 'Svc-Forward-Traceparent': traceparent } }));
  expect(await tracesAt(own, 1)).toEqual([{ traceparent, tracestate: undefined }]);
});

it('An item of a batch belongs to its own trace, or to the request’s', async () => {
  const [one, other] = [receiver.inbox(), receiver.inbox()];
  const body = [{ destination: one.url, headers: traceOf(20) }, { destination: other.url }];
  expect((await api('POST', '/v2/batch', { body, headers: traceOf(21) })).status).toBe(200);
  expect(await tracesAt(one, 1)).toEqual([traceOf(20)]);
  expect(await tracesAt(other, 1)).toEqual([traceOf(21)]);
});

it('A triggered run belongs to the trace of its request', async () => {
  const inbox = receiver.inbox();
  expect((await api('POST', `/v2/trigger/${inbox.url}`, { headers: traceOf(30) })).status).toBe(200);
  expect(await tracesAt(inbox, 1)).toEqual([traceOf(30)]);
});

it('An invalid trace and the trace of a schedule’s request are not continued', async () => {
  const inbox = receiver.inbox();
  messageIdOf(await publish(inbox.url, { headers: { traceparent: '00-1-2-3', tracestate: 'vendor=1' } }));
  expect(await tracesAt(inbox, 1)).toEqual([{ traceparent: undefined, tracestate: undefined }]);
  const made = await api('POST', `/v2/schedules/${inbox.url}`, {
    headers: { ...traceOf(40), 'Svc-Cron': '0 0 1 1 *', 'Svc-Header-Forward': 'true' },
  });
  expect(made.status).toBe(200);
  const shown = await api('GET', '/v2/schedules');
  expect(JSON.stringify(shown.json)).not.toMatch(/trace(parent|state)/i);
});
