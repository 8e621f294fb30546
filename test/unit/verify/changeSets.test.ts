import { expect, it } from 'vitest';
import { changeSetClientsIn } from '../../../verify/clients.ts';
import { type ChangeSetAsked, tryChangeSet } from '../../../verify/before/changeSet.ts';
import { answerFrom, type Outputs } from '../../support/answeringClients.ts';

const made: Outputs = {
  PutObjectCommand: {},
  CreateChangeSetCommand: { Id: 'arn:aws:cloudformation:eu-central-1:1:changeSet/svc-queue-verify-1/1' },
  DescribeChangeSetCommand: { Status: 'CREATE_COMPLETE' },
  DescribeEventsCommand: { OperationEvents: [] },
  DeleteChangeSetCommand: {},
  DeleteStackCommand: {},
  DeleteObjectCommand: {},
};

const small: ChangeSetAsked = {
  stackName: 'Svc-eu-central-1-State',
  template: '{}',
  isNew: false,
  isStackOwn: false,
  bucket: 'cdk-hnb659fds-assets-1-eu-central-1',
  region: 'eu-central-1',
  signal: new AbortController().signal,
};

/** More than a request may contain. */
const large = JSON.stringify({ Description: 'x'.repeat(51_200) });

async function callsOf(asked: Partial<ChangeSetAsked>, outputs: Outputs = {}) {
  const clients = changeSetClientsIn('eu-central-1');
  const calls: string[] = [];
  for (const client of Object.values(clients))
    answerFrom(client, { ...made, ...outputs }, (name) => {
      calls.push(name.replace(/Command$/, ''));
    });
  const outcome = await tryChangeSet(clients, { ...small, ...asked }).catch(String);
  return { calls, outcome };
}

it('A small template is sent directly, and its change set is deleted', async () => {
  const { calls, outcome } = await callsOf({});
  expect(calls).toEqual(['CreateChangeSet', 'DescribeChangeSet', 'DescribeEvents', 'DeleteChangeSet']);
  expect(outcome).toEqual({ isTaken: true, faults: [], warnings: [] });
});

it('A large template is sent through the bucket, and a stack that exists only for the change set is deleted with it', async () => {
  let source: unknown;
  const { calls } = await callsOf(
    { template: large, isNew: true, isStackOwn: true },
    {
      CreateChangeSetCommand: (input) => {
        source = input;
        return { Id: 'id' };
      },
    },
  );
  expect(calls).toEqual([
    'PutObject',
    'CreateChangeSet',
    'DescribeChangeSet',
    'DescribeEvents',
    'DeleteChangeSet',
    'DeleteStack',
    'DeleteObject',
  ]);
  expect(source).toHaveProperty('ChangeSetType', 'CREATE');
  expect(JSON.stringify(source)).toMatch(
    /"TemplateURL":"https:\/\/s3\.eu-central-1\.amazonaws\.com\/cdk-hnb659fds-assets-1-eu-central-1\/svc-queue-verify-[0-9a-f]+\.json"/,
  );
  expect(source).not.toHaveProperty('TemplateBody');
});

it('Everything that was created is deleted after an error, too', async () => {
  const { calls, outcome } = await callsOf(
    { template: large, isNew: true, isStackOwn: true },
    { DescribeEventsCommand: new Error('Rate exceeded') },
  );
  expect(outcome).toBe('Error: Rate exceeded');
  expect(calls.slice(-3)).toEqual(['DeleteChangeSet', 'DeleteStack', 'DeleteObject']);
});

it('and after the run was ended', async () => {
  const ending = new AbortController();
  const { calls, outcome } = await callsOf(
    { signal: ending.signal },
    {
      DescribeChangeSetCommand: () => {
        ending.abort();
        return { Status: 'CREATE_IN_PROGRESS' };
      },
    },
  );
  expect(outcome).toBe('AbortError: The operation was aborted');
  expect(calls.at(-1)).toBe('DeleteChangeSet');
});

it('A refused change set leaves only the template in the bucket, which is deleted', async () => {
  const { calls, outcome } = await callsOf(
    { template: large },
    { CreateChangeSetCommand: new Error('Stack is in ROLLBACK_COMPLETE state and can not be updated.') },
  );
  expect(outcome).toMatch(/ROLLBACK_COMPLETE/);
  expect(calls).toEqual(['PutObject', 'CreateChangeSet', 'DeleteObject']);
});
