/**
 * The stacks of a deployment. Each region has one that keeps data, and one that can be replaced at any time.
 * The management API is in the first region.
 */
import { type Environment, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { CodeOf } from './functions/function.ts';
import { ManagementStack } from './managementStack.ts';
import { ServiceStack } from './serviceStack.ts';
import type { Settings } from './settings.ts';
import { StateStack } from './stateStack.ts';

interface Deployment {
  readonly settings: Settings;
  readonly codeOf: CodeOf;
  /** If it is undefined, the templates fit any AWS account. */
  readonly account: string | undefined;
}

export interface Stacks {
  /** One for each region, in the order of the settings. */
  readonly stateStacks: readonly StateStack[];
  /** In the same order. */
  readonly serviceStacks: readonly ServiceStack[];
  /** In the first region only. */
  readonly managementStacks: readonly ManagementStack[];
}

/**
 * @param scope of the stacks. The CLI passes the app, because a construct in between would be a prefix of all
 * stack names
 */
export function makeStacks(scope: Construct, { settings, codeOf, account }: Deployment): Stacks {
  const [homeRegion, ...otherRegions] = settings.regions;
  const environment = (region: string): Environment =>
    account === undefined ? { region } : { account, region };

  const stateStacks = settings.regions.map(
    (region) =>
      new StateStack(scope, `${settings.name}-${region}-State`, {
        stackName: `${settings.name}-${region}-State`,
        env: environment(region),
        description: `${settings.name} in ${region}: accounts, messages, bodies`,
        terminationProtection: settings.retain,
        settings,
        ...(region === homeRegion ? { makesReplicasIn: otherRegions } : {}),
      }),
  );
  const serviceStacks = stateStacks.map((state) => {
    // The other regions have replicas of the first region's accounts and master secret.
    if (stateStacks[0] !== undefined && state !== stateStacks[0]) state.addStackDependency(stateStacks[0]);
    return new ServiceStack(scope, `${settings.name}-${state.region}-Service`, {
      stackName: `${settings.name}-${state.region}-Service`,
      env: environment(state.region),
      description: `${settings.name} in ${state.region}: API, queues, functions`,
      settings,
      state,
      codeOf,
    });
  });
  const managementStacks = serviceStacks.slice(0, 1).map(
    (home) =>
      new ManagementStack(scope, `${settings.name}-Management`, {
        stackName: `${settings.name}-Management`,
        env: environment(home.region),
        description: `${settings.name}: the management API of all regions`,
        settings,
        home,
        codeOf,
      }),
  );
  for (const stack of [...stateStacks, ...serviceStacks, ...managementStacks])
    Tags.of(stack).add('service', settings.name);
  return { stateStacks, serviceStacks, managementStacks };
}
