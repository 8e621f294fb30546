import { expect, it } from 'vitest';
import * as z from 'zod';
import { properties, synthesizeOne } from './app.ts';
import { functionsOf, nameOf } from './roles.ts';

const { service } = synthesizeOne();

/** A reference to an alias is its ARN. */
const arnOf = z.object({ Ref: z.string() });

const ruleShape = z.object({
  ScheduleExpression: z.string(),
  State: z.literal('ENABLED'),
  Targets: z.array(z.object({ Arn: arnOf })),
});

it.each([
  ['CountOutcomes', 900],
  ['Redrive', 300],
])(
  '%s runs once an hour, by a rule that alone may invoke it, and ends before the next time',
  (name, timeout) => {
    const timed = functionsOf(service).find(({ Environment }) => nameOf(Environment.Variables) === name);
    expect(timed?.Timeout).toBe(timeout);
    const invokes = (arn: string): boolean => arn.startsWith(`${name}Live`);
    const rules = properties(service, 'AWS::Events::Rule', ruleShape).filter(({ Targets }) =>
      Targets.some(({ Arn }) => invokes(Arn.Ref)),
    );
    expect(rules.map(({ ScheduleExpression }) => ScheduleExpression)).toEqual(['rate(1 hour)']);
    const permissions = properties(
      service,
      'AWS::Lambda::Permission',
      z.object({ FunctionName: z.unknown(), Principal: z.string(), SourceArn: z.unknown() }),
    ).filter(({ FunctionName }) => JSON.stringify(FunctionName).includes(`"${name}`));
    expect(permissions.map(({ Principal }) => Principal)).toEqual(['events.amazonaws.com']);
    expect(JSON.stringify(permissions[0]?.SourceArn)).toContain(`${name}Rule`);
  },
);

it.each([
  ['2', [2]],
  ['7', [5, 2]],
])(
  'Outcomes are counted by %s parallel executions if the setting says so, each with a separate part',
  (countingParts, targetsOfRules) => {
    const parts = Number(countingParts);
    const rules = properties(
      synthesizeOne({ countingParts }).service,
      'AWS::Events::Rule',
      z.object({
        Targets: z.array(z.object({ Arn: arnOf, Input: z.string().optional() })),
      }),
    ).filter(({ Targets }) => Targets.every(({ Arn }) => Arn.Ref.startsWith('CountOutcomes')));
    expect(rules.map(({ Targets }) => Targets.length)).toEqual(targetsOfRules);
    expect(
      rules.flatMap(({ Targets }) => Targets.map(({ Input = '' }): unknown => JSON.parse(Input))),
    ).toEqual(Array.from({ length: parts }, (_, part) => ({ part, parts })));
    const permissions = properties(
      synthesizeOne({ countingParts }).service,
      'AWS::Lambda::Permission',
      z.object({ Principal: z.string(), FunctionName: z.unknown() }),
    ).filter(
      ({ Principal, FunctionName }) =>
        Principal === 'events.amazonaws.com' && JSON.stringify(FunctionName).includes('CountOutcomes'),
    );
    expect(permissions).toHaveLength(rules.length);
  },
);
