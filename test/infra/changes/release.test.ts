/**
 * This release over the one before, and back. `release.json` is what the release before deploys, as far as it matters here: a clone
 * without history, as CI has it, cannot make it again. Who cuts a release renews it: see CONTRIBUTING.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { synthesize } from '../app.ts';
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
if (process.env['SVC_RELEASE'] === 'write') writeFileSync(file, JSON.stringify(now, undefined, 2));
const before = deployedShape.parse(JSON.parse(readFileSync(file, 'utf8')));

/** What is lost when this release is taken back, as sentences of {@link losses}: what is new in it, and has to go. */
const newHere: readonly string[] = [
  // The release before has no alarms. Who gets their mails confirms it again after the next upgrade.
  'AWS::SNS::Topic MonitoringTopic2EDA8B02 is gone',
  // `svc-queue recover` sends the jobs again that were in them: docs/deploy.md, "Upgrade".
  'AWS::SQS::Queue QueuesParked7648A030 is gone',
  'AWS::SQS::Queue QueuesSlowBF74C2CE is gone',
  'AWS::Logs::LogGroup DeliverSlowLog71D9C35D is gone',
  'AWS::Logs::LogGroup RedriveLog0DDC0C6C is gone',
];

const [state = '', service = ''] = deploymentOrder(now);

/** This release, changed in one stack. */
function changed(name: string, change: (stack: Deployed[string]) => void): Deployed {
  const copy = structuredClone(now);
  const stack = copy[name];
  if (stack !== undefined) change(stack);
  return copy;
}

describe('this release', () => {
  it('is deployed over the one before without a refusal, and takes nothing away', () => {
    const order = deploymentOrder(now);
    expect({ refused: refusals(before, now, order), lost: losses(before, now, order) }).toEqual({
      refused: [],
      lost: [],
    });
  });

  it('is taken back without a refusal, and takes nothing away but what is new in it', () => {
    const order = wayBack(before);
    expect({ refused: refusals(now, before, order), lost: losses(now, before, order) }).toEqual({
      refused: [],
      lost: newHere,
    });
  });
});

describe('a release with a new table', () => {
  const table = `${state}:NewTable`;
  const next = changed(state, ({ exports }) => {
    exports[table] = 'its name';
  });
  next[service]?.imports.push(table);

  it('cannot be taken back in the order of deployments: the export is in use', () => {
    expect(refusals(next, now, deploymentOrder(now))).toEqual([
      `Cannot update or delete export ${table} as it is in use by ${service}`,
    ]);
  });

  it('is deployed, and taken back in the documented order', () => {
    expect(refusals(now, next, deploymentOrder(next))).toEqual([]);
    expect(refusals(next, now, wayBack(now))).toEqual([]);
  });

  it('cannot be deployed before its state', () => {
    expect(refusals(now, next, [service])).toEqual([`No export named ${table} found, for ${service}`]);
  });
});

describe('what a release takes away', () => {
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
