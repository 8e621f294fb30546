/** The publish URL: publishes without API Gateway before the function. */
import { Fn } from 'aws-cdk-lib';
import { FunctionUrlAuthType, InvokeMode } from 'aws-cdk-lib/aws-lambda';
import type { SvcFunction } from '../functions/function.ts';

export interface PublishUrl {
  /** The base URL, without a slash at its end. */
  readonly url: string;
  /** The host that Lambda generates. */
  readonly host: string;
}

/**
 * Makes the URL of the function publish. It asks for no AWS credentials, as the API asks for none: the function looks at tokens.
 * Lambda wants the public to have two rights for that, to invoke the URL and to invoke the function through it; the CDK gives both.
 */
export function makePublishUrl(publish: SvcFunction): PublishUrl {
  const { url } = publish.addFunctionUrl({
    authType: FunctionUrlAuthType.NONE,
    invokeMode: InvokeMode.BUFFERED,
  });
  // https://<id>.lambda-url.<region>.on.aws/
  const host = Fn.select(2, Fn.split('/', url));
  return { url: `https://${host}`, host };
}
