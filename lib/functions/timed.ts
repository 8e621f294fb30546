/** A function that runs by the clock. */
import { Duration, type Stack } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { timers, type TimedFunction } from '../../lambdas/aws/resources.ts';
import { accept } from '../acknowledge.ts';
import { SvcFunction, type SvcFunctionProps } from './function.ts';

interface TimedProps extends Omit<SvcFunctionProps, 'handler' | 'timeout'> {
  /** The handler. */
  readonly runs: TimedFunction;
  readonly ruleDescription: string;
}

/** Makes a function with the rule of EventBridge that invokes it. */
export function makeTimed(
  stack: Stack,
  id: string,
  { runs, ruleDescription, ...props }: TimedProps,
): SvcFunction {
  const { everyHours, functionTimeoutSeconds } = timers[runs];
  const timed = new SvcFunction(stack, id, {
    ...props,
    handler: runs,
    timeout: Duration.seconds(functionTimeoutSeconds),
  });
  const rule = new Rule(stack, `${id}Rule`, {
    description: ruleDescription,
    schedule: Schedule.rate(Duration.hours(everyHours)),
    targets: [{ bind: () => ({ arn: timed.live.functionArn }) }],
  });
  accept(rule, 'Serverless-EventBusDLQ', 'The next hour does what this one did not.');
  timed.live.addPermission('Rule', {
    principal: new ServicePrincipal('events.amazonaws.com'),
    sourceArn: rule.ruleArn,
  });
  return timed;
}
