/** The publish URL: a function URL without API Gateway. */
import { Fn } from 'aws-cdk-lib';
import { FunctionUrlAuthType, type IFunction, InvokeMode } from 'aws-cdk-lib/aws-lambda';
import { accept } from '../acknowledge.ts';
import type { SvcFunction } from '../functions/function.ts';

export interface PublishUrl {
  /** Without a slash at the end. */
  readonly url: string;
  /** The hosts that Lambda generates, of this URL and of the former one. */
  readonly hosts: readonly string[];
}

/**
 * Like the API, the URL asks for no AWS credentials: the function checks tokens.
 *
 * The URL belongs to the alias. The URL from before the alias stays until the next release for clients that still use it.
 */
export function makePublishUrl(publish: SvcFunction): PublishUrl {
  const [host, former] = [hostOfUrl(publish.live), hostOfUrl(publish)];
  return { url: `https://${host}`, hosts: [host, former] };
}

/**
 * Lambda requires two permissions for the public: to invoke the URL, and to invoke the function through it. The CDK gives both.
 */
function hostOfUrl(invoked: IFunction): string {
  const { url } = invoked.addFunctionUrl({
    authType: FunctionUrlAuthType.NONE,
    invokeMode: InvokeMode.BUFFERED,
  });
  for (const right of ['invoke-function-url', 'invoke-function']) {
    accept(
      invoked.node.findChild(right),
      'NIST.800.53.R5-LambdaFunctionPublicAccessProhibited',
      'The setting `publishUrl` asks for a URL that is open to everybody. The function checks the token of each request.',
    );
  }
  // https://<id>.lambda-url.<region>.on.aws/
  return Fn.select(2, Fn.split('/', url));
}
