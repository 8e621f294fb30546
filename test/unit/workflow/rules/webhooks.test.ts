import { describe, expect, it } from 'vitest';
import { eventDigest } from '../../../../lambdas/workflow/rules/journal.ts';
import { checkCapacityForCall, keepsCallsOf } from '../../../../lambdas/workflow/rules/webhooks.ts';
import { createdWebhook, isWebhookId } from '../../../../lambdas/workflow/rules/step.ts';

const id = 'evt_0123456789abc_-';
const mebibyte = 1_024 * 1_024;

describe('the id of a webhook', () => {
  it.each([id, 'evt_ABCDEFGHIJKLMNO'])('has the client’s format: %s', (text) => {
    expect(isWebhookId(text)).toBe(true);
  });

  it.each(['evt_0123456789abc_', `${id}0`, ` ${id}`, 'evt-0123456789abcde', 'evt_0123456789abc+-'])(
    'is not %j',
    (text) => {
      expect(isWebhookId(text)).toBe(false);
    },
  );

  it('is read from the result of its step, which clients write as JSON or as plain text', () => {
    const out = { webhookUrl: 'https://queue.example.com/hook', eventId: id };
    expect(createdWebhook(out)).toBe(id);
    expect(createdWebhook(JSON.stringify(out))).toBe(id);
  });

  it.each([undefined, '', 'no JSON', {}, '{"eventId":"paid"}', { eventId: 'evt_short' }, { eventId: 1 }])(
    'is missing in the result, which is refused: %j',
    (out) => {
      const refusal = expect.objectContaining({
        status: 412,
        message:
          'The step: out names no webhook; allowed is {"webhookUrl", "eventId"} with an eventId of "evt_" and 15 letters, digits, "_" or "-".',
      }) as Error;
      expect(() => createdWebhook(out)).toThrow(refusal);
    },
  );
});

describe('a run', () => {
  it('keeps calls of the webhooks that it has created', () => {
    expect(keepsCallsOf({ webhooks: [eventDigest('other'), eventDigest(id)] }, id)).toBe(true);
    expect(keepsCallsOf({ webhooks: [eventDigest('other')] }, id)).toBe(false);
  });

  const callsOf = (eventId: string, count: number, callBytes = 0) =>
    Array.from({ length: count }, (_, seq) => ({ digest: eventDigest(eventId), seq, callBytes }));
  const checkCall = (
    events: Parameters<typeof checkCapacityForCall>[0]['events'],
    { bytes = 0, bodyBytes = 0, entries = 1 } = {},
  ) => {
    checkCapacityForCall({ events, bodyBytes, entries }, id, bytes);
  };
  const full = (message: string): Error =>
    expect.objectContaining({
      status: 429,
      code: 'webhook_full',
      message: `${message}, and accepts no more for now; call it again later.`,
    }) as Error;

  it('keeps ten calls of one webhook and 100 altogether, beside its events', () => {
    const events = Array.from({ length: 100 }, (_, seq) => ({ digest: eventDigest(id), seq }));
    checkCall([...events, ...callsOf(id, 9), ...callsOf('others', 90)]);
    expect(checkCall.bind(undefined, callsOf(id, 10))).toThrow(
      full('The webhook keeps 10 calls that its run has not waited for yet'),
    );
    expect(checkCall.bind(undefined, [...callsOf(id, 9), ...callsOf('others', 91)])).toThrow(
      full('The run keeps 100 calls of webhooks, of 0 bytes, that it has not waited for yet'),
    );
  });

  it('keeps 8 MiB of calls', () => {
    const kept = callsOf('others', 2, 3 * mebibyte);
    checkCall(kept, { bytes: 2 * mebibyte });
    expect(checkCall.bind(undefined, kept, { bytes: 2 * mebibyte + 1 })).toThrow(
      full(`The run keeps 2 calls of webhooks, of ${6 * mebibyte} bytes, that it has not waited for yet`),
    );
  });

  it('refuses a step that would not fit into its list together with the kept calls', () => {
    const kept = callsOf('others', 2, mebibyte);
    const refused = expect.objectContaining({ status: 412 }) as Error;
    checkCall(kept, { bytes: mebibyte, bodyBytes: 29 * mebibyte, entries: 9_997 });
    expect(checkCall.bind(undefined, kept, { bytes: mebibyte + 1, bodyBytes: 29 * mebibyte })).toThrow(
      refused,
    );
    expect(checkCall.bind(undefined, kept, { entries: 9_998 })).toThrow(refused);
  });
});
