import { describe, expect, it } from 'vitest';
import { formatScheduleSettings, parseScheduleSettings } from '../../../lambdas/schedule/scheduleSettings.ts';

/** Settings in the attribute `view` of a schedule’s row. */
const stored =
  '{"method":"POST","header":{"Content-Type":["application/json"],"__proto__":["x","y"]},"timeout":30,' +
  '"label":"daily","labels":["daily","report"],"flowControlKey":"k","parallelism":5,"rate":10,' +
  '"ratePerSecond":10,"period":60,"callback":"https://example.com/done","retries":3,"queueName":"mail",' +
  '"delay":90,"callerIP":"192.0.2.1","callerIp":"192.0.2.1"}';

describe('the settings in a schedule’s row', () => {
  it('are read completely, with any names of their headers', () => {
    const settings = parseScheduleSettings(stored);
    expect(settings).toMatchObject({ method: 'POST', timeout: 30, retries: 3, delay: 90, queueName: 'mail' });
    expect(Object.getOwnPropertyDescriptor(settings.header, '__proto__')?.value).toEqual(['x', 'y']);
    const written: unknown = JSON.parse(formatScheduleSettings(settings));
    expect(written).toEqual(JSON.parse(stored));
  });

  it('have the default period if their key has none', () => {
    const without = stored.replace('"period":60,', '');
    expect(parseScheduleSettings(without).period).toBe(1);
    const keyless = without.replace('"flowControlKey":"k","parallelism":5,"rate":10,"ratePerSecond":10,', '');
    expect(parseScheduleSettings(keyless).period).toBeUndefined();
  });

  it.each([['{"method":"POST"}'], [stored.replace('"timeout":30', '"timeout":"30"')], ['[]'], ['no JSON']])(
    'are missing in an invalid row: %s',
    (text) => {
      expect(() => parseScheduleSettings(text)).toThrow();
    },
  );
});
