/** The deployment with the real CDK CLI. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { account, credentials } from './emulator.ts';
import { run } from './program.ts';

/** The first one has the management API. */
export const regions = ['eu-central-1', 'us-east-1'] as const;
export type Region = (typeof regions)[number];

const url = z.url().transform((text) => new URL(text));
const service = z.object({ ApiUrl: url, PublishUrl: url });
const outputsShape = z.object({
  'Svc-eu-central-1-Service': service,
  'Svc-us-east-1-Service': service,
  'Svc-Management': z.object({ ManagementUrl: url, ManagementSecret: z.string() }),
});

interface Deployed {
  /** The messaging API of each region. */
  readonly urls: Readonly<Record<Region, URL>>;
  readonly publishUrls: Readonly<Record<Region, URL>>;
  readonly management: { readonly url: URL; readonly secret: string };
}

/** The real CDK CLI against an emulator. */
export interface Cdk {
  /** Prepares regions. An operator does this once. */
  bootstrap(inRegions: readonly string[]): Promise<void>;
  /**
   * Deploys stacks.
   *
   * @param source the folder of the CDK app; by default this project
   * @param only a pattern of stack names; by default all stacks
   * @returns the stacks’ outputs by stack name
   */
  deploy(source?: string, only?: string): Promise<unknown>;
  /** The environment in which the operator’s programs find the emulator. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** All output of the CLI. */
  log(): string;
}

/** @param options.context settings of the deployment */
export function openCdk(options: {
  readonly scratch: string;
  readonly endpoint: string;
  readonly context: Readonly<Record<string, string>>;
}): Cdk {
  const { scratch, endpoint } = options;
  const env = {
    // The CLI remembers account ids in ~/.cdk, which must not get those of the emulator.
    HOME: scratch,
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: regions[0],
    AWS_CONFIG_FILE: join(scratch, 'no-config'),
    AWS_SHARED_CREDENTIALS_FILE: join(scratch, 'no-credentials'),
    AWS_PROFILE: undefined,
    AWS_SESSION_TOKEN: undefined,
    CDK_DEFAULT_ACCOUNT: account,
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    ...credentials,
  };
  const logFile = join(scratch, 'cdk.log');
  const cdk = { package: 'aws-cdk', path: 'bin/cdk', timeoutMs: 600_000, logFile };
  const shared = [
    ...Object.entries(options.context).flatMap(([name, value]) => ['--context', `${name}=${value}`]),
    ...['--output', join(scratch, 'cdk.out'), '--ci', '--no-color'],
  ];
  return {
    env,
    bootstrap: (inRegions) =>
      run(cdk, ['bootstrap', ...inRegions.map((region) => `aws://${account}/${region}`), ...shared], env),
    deploy: async (source, only) => {
      const outputsFile = join(scratch, 'outputs.json');
      const which = only === undefined ? ['--all'] : ['--exclusively', only];
      const deployment = ['deploy', ...which, '--require-approval', 'never', '--outputs-file', outputsFile];
      const app = source === undefined ? cdk : { ...cdk, cwd: source };
      await run(app, [...deployment, ...shared], env);
      const outputs: unknown = JSON.parse(readFileSync(outputsFile, 'utf8'));
      return outputs;
    },
    log: () => readFileSync(logFile, 'utf8'),
  };
}

/** Bootstraps and deploys all regions, as an operator would. */
export async function deploy(options: Parameters<typeof openCdk>[0]): Promise<Deployed> {
  const cdk = openCdk(options);
  await cdk.bootstrap(regions);
  const outputs = outputsShape.parse(await cdk.deploy());
  const { ManagementUrl, ManagementSecret } = outputs['Svc-Management'];
  return {
    urls: {
      'eu-central-1': outputs['Svc-eu-central-1-Service'].ApiUrl,
      'us-east-1': outputs['Svc-us-east-1-Service'].ApiUrl,
    },
    publishUrls: {
      'eu-central-1': outputs['Svc-eu-central-1-Service'].PublishUrl,
      'us-east-1': outputs['Svc-us-east-1-Service'].PublishUrl,
    },
    management: { url: ManagementUrl, secret: ManagementSecret },
  };
}
