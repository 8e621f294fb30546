import { describe, expect, it } from 'vitest';
import { busEvent, sizeOfEvent } from '../../../../lambdas/delivery/rules/busEvent.ts';

describe('an event', () => {
  it('has the headers of the delivery, and names its source and type', () => {
    expect(busEvent([['x-a', '1']], Buffer.from('{"id":7}'))).toEqual({
      source: 'svc-queue',
      detailType: 'message',
      detail: '{"headers":{"x-a":"1"},"body":{"id":7}}',
    });
  });

  it('takes source and type from forwarded headers', () => {
    const headers = [
      ['source', 'com.example.orders'],
      ['detail-type', 'OrderPlaced'],
    ] as const;
    expect(busEvent(headers, Buffer.from('{}'))).toMatchObject({
      source: 'com.example.orders',
      detailType: 'OrderPlaced',
      detail: '{"headers":{"source":"com.example.orders","detail-type":"OrderPlaced"},"body":{}}',
    });
  });

  it.each([
    // A number with more digits than JavaScript keeps.
    ['{"id":12345678901234567890}', '{"id":12345678901234567890}'],
    ['{"a":', String.raw`"{\"a\":"`],
    ['plain', '"plain"'],
    ['"text"', String.raw`"\"text\""`],
    ['a\u0000b', String.raw`"a\u0000b"`],
  ])('has the body %j as %j', (body, expected) => {
    const { detail } = busEvent([], Buffer.from(body));
    expect(detail).toBe(`{"headers":{},"body":${expected}}`);
    expect(() => void JSON.parse(detail)).not.toThrow();
  });

  it('has bytes that are not UTF-8 in base64, and no body field without a body', () => {
    expect(busEvent([], Buffer.from([255, 0])).detail).toBe(
      '{"headers":{},"body":"/wA=","isBase64Encoded":true}',
    );
    expect(busEvent([], new Uint8Array()).detail).toBe('{"headers":{}}');
  });

  it('has a size in bytes', () => {
    expect(sizeOfEvent({ source: 'ü', detailType: 'ab', detail: '{}' })).toBe(6);
  });
});
