import {
  type CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  waitUntilStackCreateComplete,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import { App, LegacyStackSynthesizer, Stack } from 'aws-cdk-lib';
import { describeStack, outputsOf } from '../../../operate/stackResources.ts';

interface Made {
  readonly name: string;
  readonly template: string;
  /** The time limit for CloudFormation, in seconds. */
  readonly maxWaitTime: number;
  /** Seconds between looks. */
  readonly minDelay: number;
  readonly maxDelay: number;
}

/** Synthesizes a stack that needs no bootstrap. @returns its template */
export function templateOf(name: string, fill: (stack: Stack) => void): string {
  const app = new App({ analyticsReporting: false });
  fill(new Stack(app, name, { synthesizer: new LegacyStackSynthesizer() }));
  return JSON.stringify(app.synth().getStackByName(name).template);
}

/** Creates a stack, and waits until it is complete. @returns its outputs */
export async function makeStack(
  client: CloudFormationClient,
  { name: StackName, template: TemplateBody, ...waiting }: Made,
  abortSignal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  await client.send(
    new CreateStackCommand({
      StackName,
      TemplateBody,
      Capabilities: ['CAPABILITY_IAM'],
      OnFailure: 'DELETE',
    }),
  );
  await waitUntilStackCreateComplete({ client, ...waiting, abortSignal }, { StackName });
  return outputsOf(client, StackName);
}

/** @returns whether it existed */
export async function removeStack(
  client: CloudFormationClient,
  StackName: string,
  maxWaitTime: number,
): Promise<boolean> {
  if ((await describeStack(client, StackName)) === undefined) return false;
  await client.send(new DeleteStackCommand({ StackName }));
  await waitUntilStackDeleteComplete({ client, maxWaitTime, minDelay: 2, maxDelay: 5 }, { StackName });
  return true;
}
