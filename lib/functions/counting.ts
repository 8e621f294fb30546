/** The function that counts outcomes at regular times, so that they are counted before they expire in the log. */
import { Duration, type Stack } from 'aws-cdk-lib';
import { type IRuleTarget, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { timers } from '../../lambdas/aws/resources.ts';
import { accept } from '../acknowledge.ts';
import { type SharedProps, SvcFunction } from './function.ts';
import type { Rights } from './rights.ts';

/** "Each rule can have up to five (5) targets associated with it at one time": `PutTargets` of EventBridge. */
const targetsOfRule = 5;

interface CountingProps {
  readonly shared: SharedProps;
  readonly rights: Rights;
}

/** The resources stand in the stack itself, not below a construct of their own: so their logical ids are short, and stay. */
export class Counting {
  readonly countOutcomes: SvcFunction;

  constructor(stack: Stack, { shared, rights }: CountingProps) {
    const { everyHours, functionTimeoutSeconds } = timers.countOutcomes;
    this.countOutcomes = new SvcFunction(stack, 'CountOutcomes', {
      ...shared,
      handler: 'countOutcomes',
      description: 'Counts what became of all accounts’ messages',
      timeout: Duration.seconds(functionTimeoutSeconds),
      may: [rights.on('accounts', 'Scan'), ...rights.countOutcomes()],
    });
    const parts = shared.settings.countingParts;
    const targets: IRuleTarget[] = Array.from({ length: parts }, (_, part) => ({
      bind: () => ({
        arn: this.countOutcomes.functionArn,
        ...(parts > 1 && { input: RuleTargetInput.fromObject({ part, parts }) }),
      }),
    }));
    for (let first = 0; first < parts; first += targetsOfRule) {
      // The only rule of a deployment with one part keeps its name.
      const number = first === 0 ? '' : String(first / targetsOfRule + 1);
      const rule = new Rule(stack, `CountOutcomesRule${number}`, {
        description: 'Lets outcomes be counted',
        schedule: Schedule.rate(Duration.hours(everyHours)),
        targets: targets.slice(first, first + targetsOfRule),
      });
      accept(rule, 'Serverless-EventBusDLQ', 'The next hour counts what this one did not.');
      this.countOutcomes.addPermission(`Rule${number}`, {
        principal: new ServicePrincipal('events.amazonaws.com'),
        sourceArn: rule.ruleArn,
      });
    }
  }
}
