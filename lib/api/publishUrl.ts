/** The publish URL: a function URL without API Gateway. */
import { Fn, ReferenceStrength } from 'aws-cdk-lib';
import { FunctionUrlAuthType, InvokeMode } from 'aws-cdk-lib/aws-lambda';
import { accept } from '../acknowledge.ts';
import type { SvcFunction } from '../functions/function.ts';

export interface PublishUrl {
  /** Without a slash at the end. */
  readonly url: string;
  /** The host that Lambda generates. */
  readonly host: string;
}

/**
 * Makes the URL. Like the API, it requires no AWS credentials: the function checks tokens.
 *
 * The CDK adds the two permissions that Lambda requires for the public: to invoke the URL, and to invoke the
 * function through it.
 */
export function makePublishUrl({ live }: SvcFunction): PublishUrl {
  const made = live.addFunctionUrl({ authType: FunctionUrlAuthType.NONE, invokeMode: InvokeMode.BUFFERED });
  // A weak reference, so that the URL can be turned off although stacks of apps use it.
  made.applyCrossStackReferenceStrength(ReferenceStrength.WEAK);
  const { url } = made;
  for (const right of ['invoke-function-url', 'invoke-function']) {
    accept(
      live.node.findChild(right),
      'NIST.800.53.R5-LambdaFunctionPublicAccessProhibited',
      'The setting `publishUrl` asks for a URL that is open to everybody. The function checks the token of each request.',
    );
  }
  // https://<id>.lambda-url.<region>.on.aws/
  const host = Fn.select(2, Fn.split('/', url));
  return { url: `https://${host}`, host };
}
