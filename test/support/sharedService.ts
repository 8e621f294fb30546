import type { TestProject } from 'vitest/node';
import * as z from 'zod/mini';
import { bundleOf } from './bundledStage.ts';
import { reporterName, startReporter } from './functions.ts';
import { startStage, type Management } from './stage.ts';

/** The service under test: its URL, region and management API. */
export interface SharedService {
  /** `local`: the local stage, with which tests may stop and start others; `deployed`: an AWS emulator. */
  readonly target: 'local' | 'deployed';
  readonly url: string;
  readonly publishUrl: string;
  readonly region: string;
  readonly management: Management;
  /** Another region of the deployment, and its URL if it runs. */
  readonly otherRegion: string;
  readonly otherUrl: string | undefined;
  /** The Lambda function of `functions.ts` that reports its events. */
  readonly reporterArn: string;
  /** Parts of the deployment that tests reach directly. Undefined on one machine. */
  readonly deployment: Deployment | undefined;
}

interface Deployment {
  /** The emulator, which answers for all of AWS. */
  readonly awsUrl: string;
  /** The port of this machine that deliveries use as their proxy. A test listens there. */
  readonly proxyPort: number;
  /** The custom domain, with its base path, and the region that has it. */
  readonly domain: string;
  readonly domainRegion: string;
}

/** Dollars per message, high enough for a few messages to reach a budget. */
export const pricePerMessage = 0.1;

declare module 'vitest' {
  interface ProvidedContext {
    service: SharedService;
  }
}

const deployed = z.object({
  SVC_URL: z.url(),
  SVC_PUBLISH_URL: z.url(),
  SVC_REGION: z.string(),
  SVC_MANAGEMENT_URL: z.url(),
  SVC_MANAGEMENT_USER: z.string(),
  SVC_MANAGEMENT_PASSWORD: z.string(),
  SVC_OTHER_REGION: z.string(),
  SVC_OTHER_URL: z.url(),
  SVC_REPORTER_ARN: z._default(z.string(), ''),
  SVC_AWS_URL: z._default(z.string(), ''),
  SVC_PROXY_PORT: z._default(z.coerce.number(), 0),
  SVC_DOMAIN: z._default(z.string(), ''),
  SVC_DOMAIN_REGION: z._default(z.string(), ''),
});

/**
 * Starts one service for all tests that only use HTTP: a deployed one that the environment names, or a local stage with
 * separate data.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env['SVC_E2E_TARGET'] === 'deployed') {
    const env = deployed.parse(process.env);
    project.provide('service', {
      target: 'deployed',
      url: env.SVC_URL,
      publishUrl: env.SVC_PUBLISH_URL,
      region: env.SVC_REGION,
      management: {
        url: env.SVC_MANAGEMENT_URL,
        user: env.SVC_MANAGEMENT_USER,
        password: env.SVC_MANAGEMENT_PASSWORD,
      },
      otherRegion: env.SVC_OTHER_REGION,
      otherUrl: env.SVC_OTHER_URL,
      reporterArn: env.SVC_REPORTER_ARN,
      deployment: {
        awsUrl: env.SVC_AWS_URL,
        proxyPort: env.SVC_PROXY_PORT,
        domain: env.SVC_DOMAIN,
        domainRegion: env.SVC_DOMAIN_REGION,
      },
    });
    return undefined;
  }
  const functions = await startReporter();
  const stage = await startStage({
    env: { AWS_ENDPOINT_URL_LAMBDA: functions.url },
    args: ['--publish-port', '0', '--price-per-message', String(pricePerMessage)],
    command: [bundleOf(project)],
  });
  const { publishUrl } = stage;
  if (publishUrl === undefined) throw new Error('The stage has no publish URL.');
  project.provide('service', {
    target: 'local',
    url: stage.url,
    publishUrl,
    region: 'eu-central-1',
    management: stage.management,
    otherRegion: 'us-east-1',
    otherUrl: undefined,
    reporterArn: `arn:aws:lambda:eu-central-1:000000000000:function:${reporterName}`,
    deployment: undefined,
  });
  return async () => {
    await stage.stop();
    await stage.remove();
    await functions.close();
  };
}
