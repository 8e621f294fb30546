import { HttpError } from '../error/httpError.ts';
import { log } from '../aws/log.ts';
import { withMetrics } from '../aws/metrics.ts';
import { answer } from '../provision/answer.ts';
import { event as shape } from '../provision/event.ts';
import { onceAllowed } from '../provision/onceAllowed.ts';
import { idOfFailed, provision } from '../provision/provision.ts';

/** The whole answer may have at most 4,096 bytes. */
const longestReason = 1_000;

/**
 * The reason of any error is returned, because the log is deleted when a first deployment fails. Errors of
 * the SDK contain no secrets.
 */
function reasonOf(error: unknown): string {
  if (error instanceof HttpError) return error.message;
  return `The service failed. ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`;
}

/**
 * Answers CloudFormation in any case, because it would wait for hours. The event is not logged: with its URL
 * anyone could answer.
 */
export const handler = withMetrics(async (given: unknown): Promise<void> => {
  const event = shape.parse(given);
  const { StackId, RequestId, LogicalResourceId } = event;
  const outcome = await onceAllowed(() => provision(event)).then(
    (physicalId) => ({ Status: 'SUCCESS', PhysicalResourceId: physicalId }) as const,
    (error: unknown) => {
      log.error('A resource of an app was not made', {
        resource: LogicalResourceId,
        request: event.RequestType,
        error: error instanceof Error ? error : String(error),
      });
      return {
        Status: 'FAILED',
        Reason: reasonOf(error).slice(0, longestReason),
        PhysicalResourceId: idOfFailed(event),
      } as const;
    },
  );
  await answer(event.ResponseURL, { StackId, RequestId, LogicalResourceId, ...outcome });
});
