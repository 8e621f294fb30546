import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * Files that read a URL from a request which the service then calls. `refuseDestination` must check each such URL against the
 * deployment’s rules and the token’s scope. Add and review new files here.
 */
const places: Readonly<Record<string, string>> = {
  'alarm/settings.ts': 'where the alarms of an account are told',
  'publish/prepare.ts': 'the destination of a message, or the endpoints of its group',
  'request/publishOptions.ts': 'the callbacks of a message, a schedule, a retry, or the start of a run',
  'urlGroup/endpoints.ts': 'the endpoints of a group',
  'publish/again.ts': 'the destination of a message that is published again',
  'schedule/scheduleRequest.ts': 'the destination of a schedule',
  'workflow/steps/prepare.ts': 'the destination of a start, a step, a call or an invoke',
  'workflow/steps/trigger.ts': 'the destination of a start without a client',
  'workflow/steps/endpointUrl.ts': 'an endpoint that a run names',
  'workflow/steps/bodyHeaders.ts': 'the endpoint of the invoker, and the failure callback in its headers',
  'workflow/waits/prepareWait.ts': 'the endpoint that waits, and where its timeout is sent',
};

/** Files that read such a URL without calling it. */
const withoutCalls: Readonly<Record<string, string>> = {
  'job/send.ts': 'the URLs of the service’s own queues, by a function of the same name',
  'management/rules/accountFields.ts': 'the operator’s failure callback, checked where the account is saved',
};

const folder = join(import.meta.dirname, '../../../lambdas');
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(
    (file) => file.endsWith('.ts') && !file.startsWith('destination/') && !file.startsWith('http/openapi/'),
  )
  .map((file) => [file.replaceAll('\\', '/'), readFileSync(join(folder, file), 'utf8')] as const);

describe('URLs from outside', () => {
  const reads = /\b(parseAddress|parseEndpoint|parseUrl|parseDestination|urlOf|endpointUrl)\(/;

  it('are read only in the listed files', () => {
    const reading = sources.filter(([, source]) => reads.test(source)).map(([file]) => file);
    expect(reading.sort()).toEqual([...Object.keys(places), ...Object.keys(withoutCalls)].sort());
  });

  it.each(Object.entries(places))('are checked in %s: %s', (file) => {
    const source = sources.find(([name]) => name === file)?.[1] ?? '';
    // `urlOf` and `endpointUrl` check the URLs that they make, `prepare` and `publishParts` the given ones.
    expect(source).toMatch(/\b(refuseDestination|urlOf|endpointUrl|prepare|publishParts)\(/);
  });
});
