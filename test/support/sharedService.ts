import type { TestProject } from 'vitest/node';
import * as z from 'zod/mini';
import { startStage } from './stage.ts';

/** Where the service under test is, and how to speak to it. */
export interface Service {
  /** `local`: the local stage, which a test may stop and start others of; `deployed`: an AWS emulator. */
  readonly target: 'local' | 'deployed';
  readonly url: string;
  readonly region: string;
  readonly token: string;
  readonly readOnlyToken: string;
  readonly currentSigningKey: string;
  readonly nextSigningKey: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    service: Service;
  }
}

const deployed = z.object({
  SVC_URL: z.url(),
  SVC_REGION: z.string(),
  SVC_TOKEN: z.string(),
  SVC_READ_ONLY_TOKEN: z.string(),
  SVC_CURRENT_SIGNING_KEY: z.string(),
  SVC_NEXT_SIGNING_KEY: z.string(),
});

/**
 * One service for all tests that only speak HTTP to it: the deployed one that the environment names, or a local stage
 * with its own data.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env['SVC_E2E_TARGET'] === 'deployed') {
    const env = deployed.parse(process.env);
    project.provide('service', {
      target: 'deployed',
      url: env.SVC_URL,
      region: env.SVC_REGION,
      token: env.SVC_TOKEN,
      readOnlyToken: env.SVC_READ_ONLY_TOKEN,
      currentSigningKey: env.SVC_CURRENT_SIGNING_KEY,
      nextSigningKey: env.SVC_NEXT_SIGNING_KEY,
    });
    return undefined;
  }
  const stage = await startStage();
  project.provide('service', {
    target: 'local',
    url: stage.url,
    region: 'eu-central-1',
    token: stage.token,
    readOnlyToken: stage.readOnlyToken,
    currentSigningKey: stage.currentSigningKey,
    nextSigningKey: stage.nextSigningKey,
  });
  return async () => {
    await stage.stop();
    await stage.remove();
  };
}
