/** The public interface of the package for CDK apps: see docs/cdk.md. */
export type { SvcScheduleProps, SvcUrlGroupProps } from './app/contents.ts';
export type { SvcQueueProps } from './app/props.ts';
export { SvcAccount, type SvcAccountProps, type SvcLimits, type SvcTlsIdentity } from './app/svcAccount.ts';
export type { SvcMetric } from './app/widgets.ts';
export { SvcQueue } from './svcQueue.ts';
