/**
 * `svc-queue verify --before`: reads an AWS account, and reports what would make a deployment fail. It leaves nothing behind.
 */
import { type Outcome, runCheck } from '../check.ts';
import type { Deployment } from '../deployment.ts';
import type { AwsAccount } from './account.ts';
import { beforeChecks } from './checks.ts';
import type { Before } from './context.ts';

interface Asked {
  readonly deployment: Deployment;
  readonly regions: readonly string[];
  readonly only: readonly string[];
  readonly isEmulator: boolean;
  readonly open: (region: string) => AwsAccount;
  /** Ends the run. Cleaning up continues. */
  readonly signal: AbortSignal;
}

/** Checks the regions in parallel, and in each the credentials first. */
export async function verifyBefore(asked: Asked): Promise<readonly Outcome[]> {
  const { deployment, only, isEmulator, open, signal } = asked;
  const verifyRegion = async (region: string): Promise<readonly Outcome[]> => {
    const stacks = deployment.stacks.filter((stack) => stack.region === region);
    const home = open(deployment.settings.regions[0] ?? region);
    const before: Before = { ...deployment, region, stacks, isEmulator, aws: open(region), home, signal };
    const outcomes: Outcome[] = [];
    for (const [at, check] of beforeChecks.entries()) {
      if (at > 0 && only.length > 0 && !only.includes(check.name)) continue;
      outcomes.push(await runCheck(check, before));
      signal.throwIfAborted();
      if (outcomes[0]?.result === 'short' && at === 0) break;
    }
    return outcomes;
  };
  return (await Promise.all(asked.regions.map(verifyRegion))).flat();
}
