/** The shapes of refusals. They are not in `answers.ts`, because the console does not need the codes and their texts. */
import * as z from 'zod/mini';
import { errorCodes, type ErrorCode } from '../error/errorCodes.ts';
import { text, whole } from '../options/option.ts';
import { published, publishedToEndpoint } from './answers.ts';

const codes = Object.keys(errorCodes) as ErrorCode[];

export const error = z.object({
  error: text(
    'One sentence for people: it names the field, what is wrong with its value, and what is allowed.',
  ),
  code: z
    .enum(codes)
    .check(
      z.describe(
        `For programs. It stays the same when the sentence changes; there may be more of them later. \`docs/errors.md#<code>\` is its address in the documents.\n\n${codes
          .map((code) => `- \`${code}\`: ${errorCodes[code].meaning} ${errorCodes[code].advice}`)
          .join('\n')}`,
      ),
    ),
});

export const itemError = z.object({
  ...error.shape,
  status: whole('As the message would have been answered by itself.'),
});
export const batchAnswer = z
  .array(z.union([published, z.array(publishedToEndpoint), itemError]))
  .check(z.describe('An answer for each message, in its place.'));
