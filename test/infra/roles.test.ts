import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { joined, properties, resources, synthesize, synthesizeOne } from './app.ts';
import { functionsOf, rightsOf, statementsOf } from './roles.ts';
import { emulated } from './variants.ts';

const { service, management } = synthesizeOne();
const messagingFunctions = functionsOf(service);
const functions = [...messagingFunctions, ...functionsOf(management)];
const statements = [service, management].flatMap(statementsOf);

/** The only right to write accounts that all APIs have. It is for their hosts' rows: see the test of those rows. */
const noteHost = 'dynamodb:UpdateItem accounts';
const removeToken = 'dynamodb:DeleteItem accounts';

/** A resource's region and name. The management API has resources of every region. */
const placed = (resource: unknown): string =>
  joined.parse(resource).replace(/^arn:aws:\w+:([\w-]+):111122223333:(table\/|secret:)?/, '$1 ');

/** The rights of each function of a template, as in the reviewers' list: the actions on each resource. */
const listOf = (template: Template, named?: typeof placed): string[] =>
  functionsOf(template).map(({ name }) => {
    const actions = new Map<string, string[]>();
    for (const right of new Set(rightsOf(template, name, named))) {
      const [action = '', ...place] = right.split(' ');
      const [service = '', operation = ''] = action.split(':');
      const resource = `${place.join(' ')}: ${service}`;
      actions.set(resource, [...(actions.get(resource) ?? []), operation]);
    }
    const lines = [...actions].map(([resource, operations]) => [resource, ...operations].join(' '));
    return [`${name}:`, ...lines.sort()].join('\n  ');
  });

describe('the roles', () => {
  it('are one for each function', () => {
    const roles = functions.map(({ Role }) => Role);
    expect(new Set(roles).size).toBe(roles.length);
    for (const role of roles) {
      const found = [service, management].flatMap(
        (template) => resources(template, 'AWS::IAM::Role').get(role) ?? [],
      );
      expect(found).toHaveLength(1);
      // A function's rights are all in its own statements.
      expect(found[0]?.Properties['ManagedPolicyArns']).toBeUndefined();
    }
  });

  it('allow what rights.txt says, which reviewers read: a change of it is a change of what functions may do', async () => {
    const list = [...listOf(service), ...listOf(synthesize().management, placed)].sort().join('\n');
    await expect(`${list}\n`).toMatchFileSnapshot('rights.txt');
  });

  it('let no function of a region write accounts except those that rotate keys, hold deliveries and end deletions, nor read the management password', () => {
    for (const { name } of messagingFunctions) {
      const permissions = rightsOf(service, name);
      const writes = permissions
        .filter((permission) => /^dynamodb:(Put|Update|Delete|BatchWrite)\w* accounts/.test(permission))
        .filter((permission) => permission !== noteHost && permission !== removeToken);
      const mayWrite = ['Keys', 'CountOutcomes', 'FlowControl', 'UrlGroups'].includes(name);
      expect([name, writes]).toEqual([name, mayWrite ? ['dynamodb:PutItem accounts'] : []]);
      expect(permissions.includes(removeToken)).toBe(name === 'FollowAccount' || name === 'Keys');
      expect(permissions.join()).not.toContain('management');
    }
  });

  it('let functions pass the role of schedules to Scheduler, and to nothing else', () => {
    const passing = statementsOf(service).filter(({ Action }) => Action.includes('iam:PassRole'));
    expect(passing.length).toBeGreaterThan(5);
    for (const { Action, Condition } of passing) {
      expect({ Action, Condition }).toEqual({
        Action: ['iam:PassRole'],
        Condition: { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } },
      });
    }
  });

  it('have the right to send batches by its name only for emulators: AWS knows no such action', () => {
    const actions = (template: Template) => statementsOf(template).flatMap(({ Action }) => Action);
    expect(actions(service)).not.toContain('sqs:SendMessageBatch');
    expect(actions(synthesizeOne(emulated).service)).toContain('sqs:SendMessageBatch');
  });

  it('let functions that refuse destinations read the hosts of the APIs, an API write its own, and named tokens be written, but no account', () => {
    const { regions, management: managing } = synthesize();
    const all = ['eu-central-1', 'us-east-1'].flatMap((region) =>
      ['messaging', 'management'].map((api) => `apiHost#${region}#${api}`),
    );
    const places: readonly [Template, string][] = [
      ...regions.map((one): [Template, string] => [one.service, `apiHost#${one.region}#messaging`]),
      [managing, 'apiHost#eu-central-1#management'],
    ];
    for (const [template, own] of places) {
      const found = statementsOf(template).filter(
        ({ Action, Resource }) =>
          /BatchGetItem|UpdateItem|DeleteItem/.test(Action.join()) &&
          JSON.stringify(Resource).includes('Svc-accounts'),
      );
      expect(found.length).toBeGreaterThan(0);
      for (const { Action, Condition } of found) {
        const [action, ...others] = Action;
        expect(others).toEqual([]);
        const ofTokens =
          action === 'dynamodb:DeleteItem' || (action === 'dynamodb:UpdateItem' && template !== managing);
        const keys = [
          ...(action === 'dynamodb:UpdateItem' ? [own] : action === 'dynamodb:BatchGetItem' ? all : []),
          ...(ofTokens ? ['token#*'] : []),
        ];
        const compares = ofTokens ? 'StringLike' : 'StringEquals';
        expect(Condition).toEqual({ [`ForAllValues:${compares}`]: { 'dynamodb:LeadingKeys': keys } });
      }
    }
  });

  it('name no action with a pattern', () => {
    for (const { Action } of statements) {
      for (const action of Action) expect(action).toMatch(/^[a-z0-9]+:[A-Za-z]+$/);
    }
  });

  it('name no resource with a pattern, except objects, schedules of the group, and the suffix of a secret', () => {
    for (const { Resource } of statements) {
      expect(Resource).not.toBe('*');
      const text = JSON.stringify(Resource);
      if (/[*?]/.test(text))
        expect(text).toMatch(/Bodies[^*]*"\/\*"|:schedule\/Svc\/\*"|:secret:Svc\/(master|management)-\?{6}"/);
    }
  });

  it('are assumed only by Lambda, by the gateway for its log, or by Scheduler for its messages', () => {
    const roleShape = z.object({
      AssumeRolePolicyDocument: z.object({
        Statement: z.tuple([z.object({ Principal: z.object({ Service: z.string() }) })]),
      }),
    });
    const trust = [service, management]
      .flatMap((template) => properties(template, 'AWS::IAM::Role', roleShape))
      .map((role) => role.AssumeRolePolicyDocument.Statement[0].Principal.Service);
    expect([...new Set(trust)].sort()).toEqual([
      'apigateway.amazonaws.com',
      'lambda.amazonaws.com',
      'scheduler.amazonaws.com',
    ]);
  });
});
