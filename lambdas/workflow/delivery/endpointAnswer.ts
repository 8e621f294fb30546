import type { DestinationResponse } from '../../destination/response.ts';
import { headerName, valuesOf } from '../../shared/headers.ts';
import type { Features } from '../rules/features.ts';

const notAWorkflow =
  'detected a non-workflow destination for trigger/invoke. make sure you are sending the request to the correct endpoint';
const tooOld = 'trigger rest api is only usable with sdk versions after v1.0.0 major version';

/**
 * Detects from the answer to a run's first delivery that its destination is not a workflow endpoint, or has a
 * client that is too old. An ordinary server may answer 200 to anything.
 *
 * @returns the error with which the run fails at once; undefined if the endpoint is right, or if the attempt
 * failed anyway
 */
export function wrongDestination(
  run: {
    readonly prefix: string;
    readonly features: Features;
    readonly isUnknownClient: boolean;
    readonly isWithoutClient?: true | undefined;
  },
  response: Pick<DestinationResponse, 'status' | 'headers'>,
): string | undefined {
  const isWithoutClient = run.isUnknownClient || run.isWithoutClient === true;
  if (!isWithoutClient && !run.features.has('WF_DetectTrigger')) return undefined;
  if (response.status < 200 || response.status >= 300) return undefined;
  const says = (name: string): boolean =>
    valuesOf(response.headers, headerName(run.prefix, name).toLowerCase()).length > 0;
  if (!says('workflow-sdk-version')) return notAWorkflow;
  // A run that was started without a client requires a client from 1.0 on at its endpoint. Only those send
  // their version.
  return isWithoutClient && !says('workflow-sdk') ? tooOld : undefined;
}
