import { randomBytes } from 'node:crypto';
import { isDestinationArn, matchesArn } from '../../../lambdas/destination/arns.ts';
import { type Check, expectThat, Skipped } from '../../check.ts';
import type { After } from '../context.ts';
import { makeDeadLetter } from './deliveryChecks.ts';

/**
 * Makes the ARN of a function that does not exist, but to which messages may go. It is in this AWS account,
 * because Lambda refuses calls to others.
 *
 * @param patterns the setting `lambdaDestinations`
 * @returns undefined if no pattern allows such an ARN: each names other accounts, or a single function, which
 * must not get a message
 */
export function missingFunction(
  patterns: readonly string[],
  { region, awsAccount }: Pick<After, 'region' | 'awsAccount'>,
): string | undefined {
  const unknown = `verify-${randomBytes(8).toString('hex')}`;
  return patterns.flatMap((pattern) => {
    const [place = '', name = ''] = pattern.split(':function:');
    const [, , , wantedRegion = '', wantedAccount = ''] = place.split(':');
    const inPlace = `arn:aws:lambda:${wantedRegion.includes('*') ? region : wantedRegion}:${awsAccount}`;
    const arn = `${inPlace}:function:${name.replace('*', unknown).replaceAll('*', '')}`;
    const isOurs = matchesArn(wantedAccount, awsAccount) && matchesArn(pattern, arn);
    return isOurs && name.includes('*') && isDestinationArn(arn) ? [arn] : [];
  })[0];
}

export const functionCheck: Check<After> = {
  name: 'function',
  shows: 'the role of deliveries may invoke the functions of lambdaDestinations',
  remedy:
    'The role of the function DeliverLong needs lambda:InvokeFunction for them: svc-queue drift shows whether it has it. Does a policy of the organization forbid it?',
  run: async (after) => {
    const { lambdaDestinations } = after.settings;
    if (lambdaDestinations.length === 0) throw new Skipped('the setting lambdaDestinations is empty');
    const arn = missingFunction(lambdaDestinations, after);
    if (arn === undefined)
      throw new Skipped(
        'the setting lambdaDestinations has only functions that are there, or of other accounts',
      );
    const { error } = await makeDeadLetter(after, arn);
    expectThat(error === `There is no function ${arn}.`, `Lambda answered: ${String(error)}`);
    return 'Lambda took the right to invoke, and knew no function of a random name';
  },
};
