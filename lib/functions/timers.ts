import { type Stack, Duration } from 'aws-cdk-lib';
import { type SharedProps, SvcFunction, type SvcFunctionProps } from './function.ts';
import type { Rights } from './rights.ts';
import { type IRuleTarget, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { timers, type TimedFunction } from '../../lambdas/aws/resources.ts';
import { accept } from '../acknowledge.ts';

/** "Each rule can have up to five (5) targets associated with it at one time": `PutTargets` of EventBridge. */
const targetsOfRule = 5;

interface TimedProps extends Omit<SvcFunctionProps, 'handler' | 'timeout'> {
  readonly runs: TimedFunction;
  readonly ruleDescription: string;
  /** Concurrent executions that share the work. */
  readonly parts?: number;
}

function makeTimed(
  stack: Stack,
  id: string,
  { runs, ruleDescription, parts = 1, ...props }: TimedProps,
): SvcFunction {
  const { everyMinutes, functionTimeoutSeconds } = timers[runs];
  const timed = new SvcFunction(stack, id, {
    ...props,
    handler: runs,
    timeout: Duration.seconds(functionTimeoutSeconds),
  });
  const targets: IRuleTarget[] = Array.from({ length: parts }, (_, part) => ({
    bind: () => ({
      arn: timed.live.functionArn,
      ...(parts > 1 && { input: RuleTargetInput.fromObject({ part, parts }) }),
    }),
  }));
  for (let first = 0; first < parts; first += targetsOfRule) {
    // The first rule has no number, so its name stays if parts are added.
    const number = first === 0 ? '' : String(first / targetsOfRule + 1);
    const rule = new Rule(stack, `${id}Rule${number}`, {
      description: ruleDescription,
      schedule: Schedule.rate(Duration.minutes(everyMinutes)),
      targets: targets.slice(first, first + targetsOfRule),
    });
    accept(rule, 'Serverless-EventBusDLQ', 'The next execution does what this one left.');
    timed.live.addPermission(`Rule${number}`, {
      principal: new ServicePrincipal('events.amazonaws.com'),
      sourceArn: rule.ruleArn,
    });
  }
  return timed;
}

interface TimersProps {
  readonly shared: SharedProps;
  readonly rights: Rights;
}

export class Timers {
  /** Counts outcomes before their records expire in the log. */
  readonly countOutcomes: SvcFunction;
  readonly lookForAlarms: SvcFunction;
  /** Sends back parked messages, because a new release may be able to handle them. */
  readonly redrive: SvcFunction;

  constructor(stack: Stack, { shared, rights }: TimersProps) {
    this.countOutcomes = makeTimed(stack, 'CountOutcomes', {
      ...shared,
      runs: 'countOutcomes',
      description: 'Counts the outcomes of all accounts’ messages',
      ruleDescription: 'Triggers the count of outcomes',
      parts: shared.settings.countingParts,
      may: [
        rights.on('accounts', 'Scan', 'PutItem'),
        rights.tellRegions(),
        ...rights.countOutcomes(),
        rights.on('messages', 'Query'),
        rights.countUsage(),
        rights.on('usage', 'BatchWriteItem'),
      ],
    });
    this.lookForAlarms = makeTimed(stack, 'LookForAlarms', {
      ...shared,
      runs: 'lookForAlarms',
      description: 'Checks the accounts with alarms, and reports to them',
      ruleDescription: 'Triggers the check of accounts with alarms',
      may: [
        rights.on('accounts', 'GetItem'),
        rights.countUsage(),
        rights.on('usage', 'PutItem', 'DeleteItem'),
        ...rights.findAttention(),
        ...rights.changeLanes(),
        rights.on('messages', 'BatchWriteItem'),
        rights.onBodies('PutObject'),
      ],
    });
    this.redrive = makeTimed(stack, 'Redrive', {
      ...shared,
      runs: 'redrive',
      description: 'Sends back what an earlier release parked',
      ruleDescription: 'Triggers the check of parked messages',
      may: rights.redrive(),
    });
  }
}
