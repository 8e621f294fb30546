import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { managementRoutes, routes } from '../../lambdas/http/routes.ts';
import type { QueueName } from '../../lambdas/aws/resources.ts';
import type { Declaration } from './declarations.ts';
import { root, synthesizeAccounts, synthesizeOne } from './app.ts';
import { reachOf, sourceQueue } from './reach.ts';
import { functionsOf, rightsOf } from './roles.ts';
import { tuned } from './variants.ts';

const { service, management } = synthesizeOne(tuned);

/** The queues that invoke functions, by function. */
const sources: ReadonlyMap<string, QueueName> = new Map([
  ['DeliverShort', 'short'],
  ['DeliverLong', 'long'],
  ['DeliverSlow', 'slow'],
  ['DeliverAlone', 'dead'],
  ['Fire', 'fire'],
  ['FollowAccount', 'accountChanges'],
]);

/** The middlewares that check tokens and count usage skip public routes. */
function isPassedOver(handler: string): (declaration: Declaration) => boolean {
  const own = [...routes, ...managementRoutes].filter((route) => route.function === handler);
  const isOpen = own.length > 0 && own.every(({ access }) => access === 'open');
  return ({ file, name }) =>
    isOpen && file === 'lambdas/http/messagingApi.ts' && ['token', 'usage', 'trail'].includes(name);
}

/** The rights that a function's code uses, and those that they require. */
function neededBy(name: string, handler: string): string[] {
  const source = sources.get(name);
  const needed = reachOf(handler, isPassedOver(handler)).flatMap((right) => {
    const own = right.replace(sourceQueue, source ?? sourceQueue);
    // AWS checks a batch as the operation on one message.
    if (own.startsWith('sqs:')) return [own.replace('Batch', '')];
    // A schedule sends with a role, which must be passed to it.
    if (own.startsWith('scheduler:CreateSchedule')) return [own, 'iam:PassRole scheduler role'];
    if (own === 'lambda:Invoke functions') return ['lambda:InvokeFunction functions'];
    // Without this right, S3 answers 403 for a missing object, and a worker would take that for an outage.
    if (own.startsWith('s3:GetObject') && source !== undefined) return [own, 's3:ListBucket bodies'];
    return [own];
  });
  // Lambda receives messages with the role of the function that it invokes.
  const receives =
    source === undefined
      ? []
      : ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'].map((action) => `sqs:${action} ${source}`);
  return [...new Set([...needed, ...receives])].sort();
}

const functions = [service, management, synthesizeAccounts()].flatMap((template) =>
  functionsOf(template).map(({ name, Code }): [string, string, Template] => [
    name,
    Code.ZipFile.replace('// ', ''),
    template,
  ]),
);

describe('the role of each function', () => {
  it.each(functions)('%s: allows exactly what the code of %s can do', (name, handler, template) => {
    expect([...new Set(rightsOf(template, name))]).toEqual(neededBy(name, handler));
  });
});

describe('docs/recovery.md lists the rights that an operator needs for', () => {
  const document = readFileSync(join(root, 'docs/recovery.md'), 'utf8');
  const [, ...rows] = [...document.matchAll(/^\| (?:rights to|the) .*$/gm)].map(([row]) => row.split('|'));
  const actionsIn = (cell = ''): string[] => [...cell.matchAll(/`([A-Z]\w+)`/g)].map(([, name = '']) => name);
  const rowOf = (service: string, place: string): string =>
    ({ sqs: 'the queues', scheduler: 'the group of schedules' })[service] ?? `\`${place}\``;

  it.each([
    ['drain', 2],
    ['recover', 3],
  ])('%s', (command, column) => {
    const needed = reachOf(`../recovery/${command}`).map((right) => {
      const [, service = '', action = '', place = ''] = /^(\w+):(\w+) (\w+)/.exec(right) ?? [];
      return `${rowOf(service, place)} ${action.replace('SendMessageBatch', 'SendMessage')}`;
    });
    const told = rows.flatMap((cells) => {
      const name = /`\w+`|the queues|the group of schedules/.exec(cells[1] ?? '')?.[0] ?? '';
      return actionsIn(cells[column]).map((action) => `${name} ${action}`);
    });
    expect(told.sort()).toEqual([...new Set(needed)].sort());
  });
});
