/** The Lambda function to which end-to-end tests send messages. It is like an operator’s own function. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CreateFunctionCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { clientOptions } from '../../lambdas/aws/clientOptions.ts';
import { reporterCode, reporterName } from '../support/functions.ts';
import { findPython } from '../support/python.ts';
import { makeFunctionRole } from './aws.ts';
import { account, rootUser } from './emulator.ts';

/** The setting `lambdaDestinations`: allows this function, and others that do not exist. */
export const lambdaDestinations = `arn:aws:lambda:*:${account}:function:receiver-*`;

/** The setting `destinations`: allows the queues, topics and buses that tests make. */
export const destinations = [
  `arn:aws:sqs:*:${account}:receiver-*`,
  `arn:aws:sns:*:${account}:receiver-*`,
  `arn:aws:events:*:${account}:event-bus/receiver-*`,
].join();

/** Packs a function’s code with Python, which the emulator requires anyway. */
function packed(folder: string): Uint8Array {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.mjs'), reporterCode);
  execFileSync(findPython() ?? 'python3', ['-m', 'zipfile', '-c', 'code.zip', 'index.mjs'], { cwd: folder });
  return readFileSync(join(folder, 'code.zip'));
}

/**
 * Makes the function in a region.
 *
 * @param scratch a folder for its code
 * @returns its ARN
 */
export async function makeReporter(endpoint: string, region: string, scratch: string): Promise<string> {
  // Roles are the same in all regions.
  const role = `${reporterName}-${region}`;
  await makeFunctionRole(endpoint, region, role);
  const lambda = new LambdaClient({
    ...clientOptions('quick'),
    endpoint,
    region,
    credentials: rootUser,
  });
  try {
    const { FunctionArn } = await lambda.send(
      new CreateFunctionCommand({
        FunctionName: reporterName,
        Runtime: 'nodejs24.x',
        Handler: 'index.handler',
        Role: `arn:aws:iam::${account}:role/${role}`,
        Code: { ZipFile: packed(join(scratch, 'reporter')) },
        Timeout: 30,
      }),
    );
    if (FunctionArn === undefined) throw new Error(`The function ${reporterName} has no ARN.`);
    return FunctionArn;
  } finally {
    lambda.destroy();
  }
}
