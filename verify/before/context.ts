/** Everything that the checks before a deployment use in one region. */
import type { Deployment, StackTemplate } from '../deployment.ts';
import type { AwsAccount } from './account.ts';

export interface Before extends Deployment {
  readonly region: string;
  readonly isEmulator: boolean;
  /** The templates of the region's stacks. */
  readonly stacks: readonly StackTemplate[];
  readonly aws: AwsAccount;
  /** The AWS account in the deployment's first region. */
  readonly home: AwsAccount;
  /** Ends the run. Change sets are still deleted. */
  readonly signal: AbortSignal;
}

export const listOf = (items: readonly string[]): string => items.join('; ');

export async function stacksThere({ stacks, aws }: Pick<Before, 'stacks' | 'aws'>) {
  const found = await Promise.all(
    stacks.map(async (template) => ({ template, stack: await aws.stack(template.name) })),
  );
  return found.flatMap(({ template, stack }) => (stack === undefined ? [] : [{ template, ...stack }]));
}
