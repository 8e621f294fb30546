/**
 * The stages: settings that belong together, chosen with one setting. An operator's own setting wins over a stage, and a stage
 * over a setting's default. `docs/settings.md` has the reason of each; a test compares its table with this one.
 */

/** The values, as `cdk.json` would give them. */
export const presets = {
  /** The stage for experiments: cheap, with full logs, in a small AWS account, and gone without a trace when it is destroyed. */
  dev: {
    name: 'SvcDev',
    retain: false,
    logLevel: 'DEBUG',
    logRetentionDays: 7,
    deliveryConcurrency: 2,
    throttleRate: 100,
    throttleBurst: 200,
    firewall: false,
    monitoring: false,
  },
  /** The stage for production. */
  prod: {
    name: 'Svc',
    retain: true,
    logLevel: 'INFO',
    logRetentionDays: 90,
    deliveryConcurrency: 200,
    throttleRate: 10_000,
    throttleBurst: 5_000,
    firewall: true,
    monitoring: true,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export type Stage = keyof typeof presets;
export const stages = ['dev', 'prod'] as const satisfies readonly Stage[];

export const isStage = (name: unknown): name is Stage => stages.some((stage) => stage === name);
