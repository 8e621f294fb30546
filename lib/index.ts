/** The package for apps of the CDK. What stands here is its public interface: see docs/cdk.md. */
export type { SvcQueueProps } from './app/props.ts';
export { SvcQueue } from './svcQueue.ts';
