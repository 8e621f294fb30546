/** The publish URL: publishes without API Gateway before the function. */
import { Fn } from 'aws-cdk-lib';
import { FunctionUrlAuthType, InvokeMode } from 'aws-cdk-lib/aws-lambda';
import { accept } from '../acknowledge.ts';
import type { SvcFunction } from '../functions/function.ts';

export interface PublishUrl {
  /** The base URL, without a slash at its end. */
  readonly url: string;
  /** The host that Lambda generates. */
  readonly host: string;
}

/**
 * Makes the URL of the function publish. Like the API, it asks for no AWS credentials: the function checks tokens. Lambda demands
 * two rights for the public, to invoke the URL and to invoke the function through it; the CDK gives both.
 */
export function makePublishUrl(publish: SvcFunction): PublishUrl {
  const { url } = publish.addFunctionUrl({
    authType: FunctionUrlAuthType.NONE,
    invokeMode: InvokeMode.BUFFERED,
  });
  for (const right of ['invoke-function-url', 'invoke-function']) {
    accept(
      publish.node.findChild(right),
      'NIST.800.53.R5-LambdaFunctionPublicAccessProhibited',
      'The setting `publishUrl` asks for a URL that is open to everybody. The function checks the token of each request.',
    );
  }
  // https://<id>.lambda-url.<region>.on.aws/
  const host = Fn.select(2, Fn.split('/', url));
  return { url: `https://${host}`, host };
}
