import { expect, it } from 'vitest';
import * as z from 'zod';
import { properties, synthesizeOne } from './app.ts';
import { functionsOf, nameOf } from './roles.ts';
import { otherValues, tuned } from './variants.ts';

const { service } = synthesizeOne();

const ruleShape = z.object({
  ScheduleExpression: z.string(),
  State: z.literal('ENABLED'),
  // A reference to an alias is its ARN.
  Targets: z.array(z.object({ Arn: z.object({ Ref: z.string() }), Input: z.string().optional() })),
});
const permissionShape = z.object({
  FunctionName: z.unknown(),
  Principal: z.string(),
  SourceArn: z.unknown().optional(),
});

it.each([
  ['CountOutcomes', 900],
  ['Redrive', 300],
])(
  '%s runs once an hour, by a rule that alone may invoke it, and ends before the next time',
  (name, timeout) => {
    const timed = functionsOf(service).find(({ Environment }) => nameOf(Environment.Variables) === name);
    expect(timed?.Timeout).toBe(timeout);
    const rules = properties(service, 'AWS::Events::Rule', ruleShape).filter(({ Targets }) =>
      Targets.some(({ Arn }) => Arn.Ref.startsWith(`${name}Live`)),
    );
    expect(rules.map(({ ScheduleExpression }) => ScheduleExpression)).toEqual(['rate(1 hour)']);
    const permissions = properties(service, 'AWS::Lambda::Permission', permissionShape).filter(
      ({ FunctionName }) => JSON.stringify(FunctionName).includes(`"${name}`),
    );
    expect(permissions.map(({ Principal }) => Principal)).toEqual(['events.amazonaws.com']);
    expect(JSON.stringify(permissions[0]?.SourceArn)).toContain(`${name}Rule`);
  },
);

it.each([
  [2, tuned, [2]],
  [7, otherValues, [5, 2]],
])(
  'Outcomes are counted by %i parallel executions if the setting says so, each with a separate part',
  (parts, context, targetsOfRules) => {
    const template = synthesizeOne(context).service;
    const rules = properties(template, 'AWS::Events::Rule', ruleShape).filter(({ Targets }) =>
      Targets.every(({ Arn }) => Arn.Ref.startsWith('CountOutcomes')),
    );
    expect(rules.map(({ Targets }) => Targets.length)).toEqual(targetsOfRules);
    expect(
      rules.flatMap(({ Targets }) => Targets.map(({ Input = '' }): unknown => JSON.parse(Input))),
    ).toEqual(Array.from({ length: parts }, (_, part) => ({ part, parts })));
    const permissions = properties(template, 'AWS::Lambda::Permission', permissionShape).filter(
      ({ Principal, FunctionName }) =>
        Principal === 'events.amazonaws.com' && JSON.stringify(FunctionName).includes('CountOutcomes'),
    );
    expect(permissions).toHaveLength(rules.length);
  },
);
