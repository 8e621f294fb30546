/**
 * Sets of settings, chosen by the setting `stage`. Settings that are given take precedence over a set, and a
 * set over defaults. `docs/settings.md` has the reasons; a test compares the two.
 */

export const presets = {
  /** For experiments: cheap, with full logs, for a small AWS account. If it is deleted, nothing remains. */
  dev: {
    name: 'SvcDev',
    retain: false,
    logLevel: 'DEBUG',
    logRetentionDays: 7,
    deliveryConcurrency: 2,
    throttleRate: 100,
    throttleBurst: 200,
    firewall: false,
    publishUrl: false,
    monitoring: false,
  },
  prod: {
    name: 'Svc',
    retain: true,
    logLevel: 'INFO',
    logRetentionDays: 90,
    deliveryConcurrency: 200,
    throttleRate: 10_000,
    throttleBurst: 5_000,
    firewall: true,
    publishUrl: false,
    monitoring: true,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, unknown>>>>;

type Stage = keyof typeof presets;
export const stages = ['dev', 'prod'] as const satisfies readonly Stage[];

export const isStage = (name: unknown): name is Stage => stages.some((stage) => stage === name);
