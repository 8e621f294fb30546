/** The failure of a run in words. */

/**
 * Reads what a failure function returned from the answer of its endpoint: clients of workflows answer `{"result":…}`, or `{}` where
 * it returned nothing.
 *
 * @returns the answer itself where it has another form
 */
export function returnedIn(answer: string): string | undefined {
  const read = parsed(answer);
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return answer;
  if (Object.keys(read).length === 0) return undefined;
  if (!('result' in read)) return answer;
  return typeof read.result === 'string' ? read.result : JSON.stringify(read.result);
}

/** Endpoints may answer anything, so a text that is no JSON is undefined. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The status with which an endpoint says that its run is not to be retried. */
export const notRetried = 489;

export const statusOfRun = (status: number): string =>
  status === 0 ? 'no answer' : status === notRetried ? 'not to be retried' : String(status);
