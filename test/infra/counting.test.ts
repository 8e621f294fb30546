import { expect, it } from 'vitest';
import * as z from 'zod';
import { properties, synthesizeOne } from './app.ts';
import { functionsOf, nameOf } from './roles.ts';

const { service } = synthesizeOne();

/** The reference to an alias is its ARN. */
const arnOf = z.object({ Ref: z.string() });

const ruleShape = z.object({
  ScheduleExpression: z.string(),
  State: z.literal('ENABLED'),
  Targets: z.array(z.object({ Arn: arnOf })),
});

it('Outcomes are counted once an hour, by a function that only this rule may invoke', () => {
  const [rule, ...others] = properties(service, 'AWS::Events::Rule', ruleShape);
  expect(others).toEqual([]);
  expect(rule?.ScheduleExpression).toBe('rate(1 hour)');
  const [target] = rule?.Targets ?? [];
  const found = properties(
    service,
    'AWS::Lambda::Permission',
    z.object({ FunctionName: arnOf, Principal: z.string(), SourceArn: z.unknown() }),
  ).filter(({ Principal }) => Principal === 'events.amazonaws.com');
  expect(found).toHaveLength(1);
  expect(target?.Arn.Ref).toMatch(/^CountOutcomesLive/);
  expect(found[0]?.FunctionName).toEqual(target?.Arn);
  expect(JSON.stringify(found[0]?.SourceArn)).toContain('CountOutcomesRule');
  const counting = functionsOf(service).find(
    ({ Environment }) => nameOf(Environment.Variables) === 'CountOutcomes',
  );
  // It ends before it is invoked again.
  expect(counting?.Timeout).toBe(900);
});
