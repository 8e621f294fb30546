import { describe, expect, it } from 'vitest';
import type { Header } from '../../../../lambdas/shared/headers.ts';
import {
  callResultHeaders,
  failureHeaders,
  listHeaders,
  type DeliveringRun,
} from '../../../../lambdas/workflow/delivery/deliveryHeaders.ts';

const prefixes = ['Svc', 'Upstash'];

const run: DeliveringRun = {
  runId: 'wfr_1',
  createdAt: 1_790_000_000_000,
  url: 'https://endpoint.example/',
  prefix: 'Upstash',
  forwarded: [
    ['x-tenant', 'acmé'],
    ['x-twice', 'a'],
    ['x-twice', 'b'],
    ['upstash-label', 'billing'],
    ['upstash-workflow-sdk-version', '1'],
    ['upstash-workflow-invoke-count', '2'],
    // Headers that an endpoint forwards after a direct call, or that its user made up.
    ['upstash-workflow-runid', 'wfr_other'],
    ['svc-workflow-createdat', '1'],
    ['upstash-workflow-callback', 'true'],
    ['upstash-workflow-is-failure', 'true'],
    ['upstash-message-id', 'msg_other'],
    ['upstash-signature', 'other'],
    ['host', 'other.example'],
    ['connection', 'keep-alive'],
    ['content-type', 'text/plain'],
    ['content-encoding', 'gzip'],
    ['accept-encoding', 'br'],
  ],
  sdkVersion: '1',
  isUnknownClient: false,
};

const users: readonly Header[] = [
  ['x-tenant', 'acmé'],
  ['x-twice', 'a'],
  ['x-twice', 'b'],
  ['upstash-label', 'billing'],
];
const ofRun = (callType: string): readonly Header[] => [
  ['upstash-workflow-runid', 'wfr_1'],
  ['upstash-workflow-createdat', '1790000000000'],
  ['upstash-workflow-url', 'https://endpoint.example/'],
  ['upstash-workflow-init', 'false'],
  ['upstash-workflow-calltype', callType],
];
const json: Header = ['content-type', 'application/json'];

describe('a delivery of entries', () => {
  it('has the headers that the start forwards, the run’s headers, and the client’s version', () => {
    expect(listHeaders(run, [], prefixes)).toEqual([
      ...users,
      ['upstash-workflow-invoke-count', '2'],
      ...ofRun('step'),
      ['upstash-workflow-sdk-version', '1'],
      json,
    ]);
  });

  it('prefers its message’s headers to those of the start', () => {
    const headers = listHeaders(
      run,
      [
        ['x-twice', 'c'],
        ['upstash-workflow-runid', 'wfr_2'],
      ],
      prefixes,
    );
    expect(headers.filter(([name]) => name === 'x-twice')).toEqual([['x-twice', 'c']]);
    expect(headers).toContainEqual(['upstash-workflow-runid', 'wfr_1']);
  });

  it('says if the client is unknown, and always has a version', () => {
    const headers = listHeaders(
      { ...run, forwarded: [], sdkVersion: undefined, isUnknownClient: true },
      [],
      prefixes,
    );
    expect(headers).toContainEqual(['upstash-workflow-unknown-sdk', 'true']);
    expect(headers).toContainEqual(['upstash-workflow-sdk-version', '1']);
  });

  it('uses the dialect of its run, even for headers that were forwarded in another', () => {
    const names = listHeaders({ ...run, prefix: 'Svc' }, [], prefixes).map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(['svc-workflow-runid', 'upstash-label']));
    expect(names.filter((name) => name.endsWith('-workflow-createdat'))).toEqual(['svc-workflow-createdat']);
  });
});

it('the answer to a call has the headers of the run and the call, and no list mark', () => {
  const marked = { ...run, forwarded: [...run.forwarded, ['upstash-workflow-unknown-sdk', 'true']] as const };
  const ofCall: readonly Header[] = [
    ['upstash-workflow-callback', 'true'],
    ['upstash-workflow-stepname', 'grüß'],
    ['upstash-workflow-sdk-version', '1'],
  ];
  expect(callResultHeaders(marked, ofCall, prefixes)).toEqual([
    ...users,
    ['upstash-workflow-invoke-count', '2'],
    ['upstash-workflow-callback', 'true'],
    ['upstash-workflow-stepname', 'grüß'],
    ...ofRun('fromCallback'),
    json,
  ]);
});

it('a failure request has its own headers and marks, and no list mark', () => {
  const ofFailure: readonly Header[] = [
    ['x-tenant', 'acmé'],
    ['upstash-workflow-failure-callback', 'true'],
    ['upstash-workflow-unknown-sdk', 'true'],
    ['upstash-retried', '9'],
  ];
  expect(failureHeaders(run, ofFailure, prefixes)).toEqual([
    ['x-tenant', 'acmé'],
    ...ofRun('failureCall'),
    ['upstash-workflow-is-failure', 'true'],
    ['upstash-workflow-failure-callback', 'true'],
    json,
  ]);
});
