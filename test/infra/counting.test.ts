import { expect, it } from 'vitest';
import * as z from 'zod';
import { properties, synthesizeOne } from './app.ts';
import { functionsOf, nameOf } from './roles.ts';

const { service } = synthesizeOne();

const arnOf = z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) });

const ruleShape = z.object({
  ScheduleExpression: z.string(),
  State: z.literal('ENABLED'),
  Targets: z.array(z.object({ Arn: arnOf })),
});

it.each([
  ['2', [2]],
  ['7', [5, 2]],
])(
  'Outcomes are counted by %s executions side by side where the setting says so, each with a part of its own',
  (countingParts, targetsOfRules) => {
    const parts = Number(countingParts);
    const rules = properties(
      synthesizeOne({ countingParts }).service,
      'AWS::Events::Rule',
      z.object({
        Targets: z.array(z.object({ Input: z.string().transform((text): unknown => JSON.parse(text)) })),
      }),
    );
    expect(rules.map(({ Targets }) => Targets.length)).toEqual(targetsOfRules);
    expect(rules.flatMap(({ Targets }) => Targets.map(({ Input }) => Input))).toEqual(
      Array.from({ length: parts }, (_, part) => ({ part, parts })),
    );
    const permissions = properties(
      synthesizeOne({ countingParts }).service,
      'AWS::Lambda::Permission',
      z.object({ Principal: z.string() }),
    ).filter(({ Principal }) => Principal === 'events.amazonaws.com');
    expect(permissions).toHaveLength(rules.length);
  },
);

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
  expect(found[0]?.FunctionName).toEqual(target?.Arn);
  expect(JSON.stringify(found[0]?.SourceArn)).toContain('CountOutcomesRule');
  const counting = functionsOf(service).find(
    ({ Environment }) => nameOf(Environment.Variables) === 'CountOutcomes',
  );
  // It ends before it is invoked again.
  expect(counting?.Timeout).toBe(900);
});
