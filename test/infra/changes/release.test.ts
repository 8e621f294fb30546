/**
 * This release deployed over the previous one, and back. `release.json` has the relevant parts of the previous release's
 * templates, and `variables.txt` its functions' variables, because CI's clone without history cannot make them. Both are
 * renewed with each release: see CONTRIBUTING.md.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { root, synthesize, synthesizeOne } from '../app.ts';
import { functionsOf } from '../roles.ts';
import {
  type Deployed,
  deployedOf,
  deployedShape,
  deploymentOrder,
  losses,
  refusals,
  wayBack,
} from './deployed.ts';

const file = join(import.meta.dirname, 'release.json');
const now = deployedOf(synthesize({ regions: 'eu-central-1' }).stacks);
if (process.env['SVC_RELEASE'] === 'write') writeFileSync(file, JSON.stringify(now));
const variablesFile = join(import.meta.dirname, 'variables.txt');
if (process.env['SVC_RELEASE'] === 'write') writeFileSync(variablesFile, `${variablesOfAll().join('\n')}\n`);
const before = deployedShape.parse(JSON.parse(readFileSync(file, 'utf8')));

/** The variables of all functions in a region, except those of Powertools. */
function variablesOfAll(): string[] {
  const [first = [], ...others] = functionsOf(synthesizeOne().service).map(({ Environment }) =>
    Object.keys(Environment.Variables),
  );
  return first
    .filter((name) => !name.startsWith('POWERTOOLS_') && others.every((names) => names.includes(name)))
    .sort();
}

function requiredVariables(): string[] {
  const program = `import('${pathToFileURL(join(root, 'lambdas/aws/settings.ts')).href}').catch(({ message }) => console.log(message))`;
  const message = execFileSync(process.execPath, ['--import', 'tsx', '--eval', program], {
    cwd: root,
    env: { PATH: process.env['PATH'] },
    encoding: 'utf8',
  });
  return [...message.matchAll(/→ at (\w+)$/gm)].map(([, name = '']) => name).sort();
}

/**
 * The losses when this release is rolled back, as sentences of {@link losses}: they are new in this release.
 */
const newHere: readonly string[] = [
  // `svc-queue recover` sends the jobs of these queues again: docs/recovery.md.
  'AWS::SQS::Queue QueuesParked7648A030 is gone',
  'AWS::SQS::Queue QueuesSlowBF74C2CE is gone',
  // The previous release made it only with the setting `publishUrl`.
  'AWS::Lambda::Url PublishLiveFunctionUrlD641DB43 is gone',
  'AWS::Logs::LogGroup AlarmsLog2A85566B is gone',
  'AWS::Logs::LogGroup DeliverSlowLog71D9C35D is gone',
  'AWS::Logs::LogGroup LookForAlarmsLogD45A3FF7 is gone',
  'AWS::Logs::LogGroup RedriveLog0DDC0C6C is gone',
  // The previous release has no alarms. Recipients of alarms must confirm again after the next upgrade.
  'AWS::SNS::Topic MonitoringTopic2EDA8B02 is gone',
];

const [state = '', service = ''] = deploymentOrder(now);

function changed(name: string, change: (stack: Deployed[string]) => void): Deployed {
  const copy = structuredClone(now);
  const stack = copy[name];
  if (stack !== undefined) change(stack);
  return copy;
}

describe('this release', () => {
  it('is deployed over the previous one without a refusal, and nothing is lost', () => {
    const order = deploymentOrder(now);
    expect({ refused: refusals(before, now, order), lost: losses(before, now, order) }).toEqual({
      refused: [],
      lost: [],
    });
  });

  it('is rolled back without a refusal, and only what is new in it is lost', () => {
    const order = wayBack(before);
    expect({ refused: refusals(now, before, order), lost: losses(now, before, order) }).toEqual({
      refused: [],
      lost: newHere,
    });
  });
});

describe('the code of this release', () => {
  it('starts with the previous release’s variables: Lambda changes code first, and variables slightly later', () => {
    const known = readFileSync(variablesFile, 'utf8').trim().split('\n');
    const required = requiredVariables();
    expect(required).toContain('MASTER_SECRET_ID');
    // Lambda sets the region. A new variable is optional in its first release.
    expect(required.filter((name) => name !== 'AWS_REGION' && !known.includes(name))).toEqual([]);
  });

  it('requires nothing that this release does not set', () => {
    const set = variablesOfAll();
    expect(requiredVariables().filter((name) => name !== 'AWS_REGION' && !set.includes(name))).toEqual([]);
  });
});

describe('a release with a new table', () => {
  const table = `${state}:NewTable`;
  const next = changed(state, ({ exports }) => {
    exports[table] = 'its name';
  });
  next[service]?.imports.push(table);

  it('cannot be rolled back in the order of deployments: the export is in use', () => {
    expect(refusals(next, now, deploymentOrder(now))).toEqual([
      `Cannot update or delete export ${table} as it is in use by ${service}`,
    ]);
  });

  it('is deployed, and rolled back in the documented order', () => {
    expect(refusals(now, next, deploymentOrder(next))).toEqual([]);
    expect(refusals(next, now, wayBack(now))).toEqual([]);
  });

  it('cannot be deployed before its state', () => {
    expect(refusals(now, next, [service])).toEqual([`No export named ${table} found, for ${service}`]);
  });
});

describe('what a release removes', () => {
  it.each<[string, Deployed, string]>([
    [
      'a logical id',
      changed(state, ({ kept }) => {
        delete kept['Bodies3FF2AA63'];
      }),
      'AWS::S3::Bucket Bodies3FF2AA63 is gone',
    ],
    [
      'a create-only property',
      changed(state, ({ kept }) => {
        Object.assign(kept['MasterSecretA11BF785']?.fixed ?? {}, { Name: '"Other"' });
      }),
      'AWS::SecretsManager::Secret MasterSecretA11BF785 is replaced for its Name',
    ],
    [
      'a guard',
      changed(state, ({ kept }) => {
        kept['Messages804FA4EB']?.guards.pop();
      }),
      'AWS::DynamoDB::GlobalTable Messages804FA4EB is no longer restorable',
    ],
    [
      'the protection of a stack',
      changed(state, (stack) => {
        stack.isProtected = false;
      }),
      `${state} is no longer protected from deletion`,
    ],
  ])('is seen: %s', (_, next, loss) => {
    expect(losses(now, next, deploymentOrder(next))).toEqual([loss]);
  });
});
