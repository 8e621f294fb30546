/** The JSON bodies of requests about runs of workflows; see `requests.ts`. */
import * as z from 'zod/mini';
import { optionalField } from '../domain/json.ts';
import { batchItem } from './requests.ts';

/** One run of a batch that starts runs. */
export const triggerItem = z.omit(batchItem, { queue: true });

/** Clients in other languages say here what others say in the query. */
export const runsToCancel = z.strictObject({
  workflowRunIds: optionalField(
    z.array(z.string().check(z.minLength(1))).check(z.describe('Given these, nothing else narrows.')),
  ),
  workflowUrl: optionalField(z.string().check(z.describe('The beginning of the workflows’ URLs.'))),
});
