/** Takes a deployed region's table and queue names from its functions, for commands that use the functions' modules. */
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { clientOptions } from '../lambdas/aws/clientOptions.ts';
import { ifThere } from './awsCalls.ts';
import { OperateError } from './operateError.ts';
import { stackResources } from './stackResources.ts';

export interface Deployment {
  readonly name: string;
  readonly region: string;
}

/** This function's environment has all variables. */
const logicalId = /^DeliverShort[0-9A-F]{8}$/;

/**
 * Copies the environment of a region's functions. Import modules of `lambdas/` afterwards, because they read it when imported.
 *
 * @throws OperateError if the deployment does not exist
 */
export async function takeEnvironment({ name, region }: Deployment): Promise<void> {
  // Hides the SDK's warning about old Node versions from operators.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  const stackName = `${name}-${region}-Service`;
  const functionName = await functionIn(stackName, region);
  const { Environment } = await new LambdaClient({ ...clientOptions('quick'), region }).send(
    new GetFunctionConfigurationCommand({ FunctionName: functionName }),
  );
  const variables = Object.entries(Environment?.Variables ?? {}).filter(
    ([key]) => !key.startsWith('POWERTOOLS_'),
  );
  Object.assign(process.env, Object.fromEntries(variables), {
    AWS_REGION: region,
    POWERTOOLS_LOG_LEVEL: 'WARN',
    POWERTOOLS_SERVICE_NAME: 'operate',
  });
}

async function functionIn(stackName: string, region: string): Promise<string> {
  const client = new CloudFormationClient({ ...clientOptions('quick'), region });
  const all = await ifThere(stackResources(client, stackName), /^ValidationError: .*does not exist/);
  if (all === undefined) throw new OperateError(`There is no stack ${stackName} in ${region}.`);
  const found = all.find((one) => one.type === 'AWS::Lambda::Function' && logicalId.test(one.logicalId));
  if (found === undefined || found.physicalId === '')
    throw new OperateError(`The stack ${stackName} in ${region} has no function that delivers.`);
  return found.physicalId;
}
