/** The JSON bodies of requests that start runs of workflows; see `requests.ts`. */
import * as z from 'zod/mini';
import { urlForm } from '../shared/bounds.ts';
import { batchItem } from './batchItem.ts';

/** One run of a batch that starts runs. */
export const triggerItem = z.extend(z.omit(batchItem, { queue: true }), {
  destination: z
    .string()
    .check(z.meta({ description: 'The URL of the workflow’s endpoint.', format: 'uri', pattern: urlForm })),
});
