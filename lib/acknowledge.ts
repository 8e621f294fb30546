/**
 * Accepts findings of cdk-nag (its pack AwsSolutions). Each is accepted where its construct is made, in the CDK's own way, so an
 * organisation that checks the app with cdk-nag gets what is not accepted, and nothing else. A test fails on every other
 * finding, and on every acceptance that no finding needs any more.
 */
import { Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IConstruct } from 'constructs';
import * as z from 'zod';

/**
 * Accepts a finding in a construct, or in what is below it.
 *
 * @param rule with the finding in brackets, where a rule can find several things in one resource
 */
export function accept(construct: IConstruct, rule: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: rule, reason });
}

/** Allows actions on resources that a pattern names, which a role accepts for the reason. */
export class PatternStatement extends PolicyStatement {
  readonly rule: string;
  readonly reason: string;

  /** @param shown the pattern as cdk-nag writes it, where that is another text */
  constructor(actions: readonly string[], pattern: string, reason: string, shown = pattern) {
    super({ actions: [...actions], resources: [pattern] });
    this.rule = `AwsSolutions-IAM5[Resource::${shown}]`;
    this.reason = reason;
  }
}

const importValue = z.object({ 'Fn::ImportValue': z.string() });

/** The objects of a bucket as cdk-nag writes them: by the name under which the bucket's stack exports its ARN to the others. */
export function shownObjectsOf(bucket: IBucket): string {
  const stack = Stack.of(bucket);
  const imported: unknown = stack.resolve(stack.exportValue(bucket.bucketArn));
  return `${importValue.parse(imported)['Fn::ImportValue']}/*`;
}
