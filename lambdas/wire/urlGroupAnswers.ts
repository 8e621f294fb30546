import * as z from 'zod/mini';
import { headerLists, text } from '../options/option.ts';
import { signatureEncodings } from '../shared/bounds.ts';
import { time, type Answer } from './answers.ts';

export const urlGroup = z.object({
  name: z.string(),
  createdAt: time('When it got its first endpoint.'),
  updatedAt: time('When it last changed.'),
  endpoints: z.array(
    z.object({
      url: text('Without `user:password`.'),
      name: z.optional(z.string()),
      signature: z.optional(
        z.object({
          header: text('The signature header that its deliveries have in addition to the service’s own.'),
          encoding: z.enum(signatureEncodings),
          prefix: z.optional(text('Text before each value.')),
          overlapEndsAt: z.optional(
            time('Until this time, deliveries are also signed with a replaced secret.'),
          ),
          mustRotate: z.optional(
            z
              .literal(true)
              .check(
                z.describe(
                  'The deployment’s master secret was rotated: this secret is lost with the old one.',
                ),
              ),
          ),
        }),
      ),
    }),
  ),
  headers: headerLists('Settings of every message to the group, unless its request overrides them.'),
});
export const endpointSecrets = z.object({
  endpoints: z.array(
    z.object({
      url: text('Without `user:password`.'),
      name: z.optional(z.string()),
      signingSecret: text('The key of the HMAC. It is shown only here, and never again.'),
    }),
  ),
});
export const endpointsAdded = z.partial(endpointSecrets);
export const urlGroups = z.array(urlGroup);

export type ShownGroup = Answer<typeof urlGroup>;
export type EndpointSecrets = Answer<typeof endpointSecrets>;
export type EndpointsAdded = Answer<typeof endpointsAdded>;
