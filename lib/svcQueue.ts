/** The service as a construct, for an app of the CDK. */
import { Stage } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { SvcQueueProps } from './app/props.ts';
import { codeOf } from './functions/code.ts';
import type { ServiceStack } from './serviceStack.ts';
import { checkProps } from './settings.ts';
import { makeStacks, type Stacks } from './stacks.ts';

/**
 * A deployment of the service, in stacks of its own beside those of the app.
 *
 * ```ts
 * const queue = new SvcQueue(app, 'Queue', { regions: ['eu-central-1'] });
 * ```
 */
export class SvcQueue extends Construct {
  readonly #stacks: Stacks;

  /**
   * @param scope an `App` or a `Stage`
   * @throws Error that names each prop that is unknown or has a wrong value
   */
  constructor(scope: Construct, id: string, { awsAccount, ...props }: SvcQueueProps = {}) {
    super(scope, id);
    this.#stacks = makeStacks(scope, {
      settings: checkProps(props),
      account: awsAccount ?? Stage.of(scope)?.account,
      codeOf,
    });
  }

  /** The stack of the first region. */
  get #home(): ServiceStack {
    const [home] = this.#stacks.serviceStacks;
    if (home === undefined) throw new Error(`${this.node.path} has no region.`);
    return home;
  }

  /** The base URL of the API in the first region, without a slash at its end. */
  get url(): string {
    return this.#home.messagingApi.url;
  }
}
