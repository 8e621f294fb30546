import { parsed } from '../../api/json.ts';

/**
 * The value that a failure function returned. Workflow clients answer `{"result":…}`, or `{}` if there is
 * none.
 *
 * @returns the whole answer if it has another form
 */
export function returnedIn(answer: string): string | undefined {
  const read = parsed(answer);
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return answer;
  if (Object.keys(read).length === 0) return undefined;
  if (!('result' in read)) return answer;
  return typeof read.result === 'string' ? read.result : JSON.stringify(read.result);
}

/** The status by which an endpoint says that its run must not be retried. */
export const notRetried = 489;

export const statusOfRun = (status: number): string =>
  status === 0 ? 'no answer' : status === notRetried ? 'not to be retried' : String(status);
