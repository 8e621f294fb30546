/** What the processes of a stage tell each other. All of it passes the primary. */
import * as z from 'zod/mini';
import { parkedJobs } from '../sqs/redrive.ts';

const owner = z.int().check(z.gte(0));
const fire = z.object({ id: z.object({ group: z.string(), name: z.string() }), dueAt: z.number() });
const planned = z.object({ kind: z.literal('planned'), fire });

export const toMember = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('start'),
    owner,
    /** Processes that have ended, whose messages it takes over. */
    adopts: z.array(owner),
    isFirst: z.boolean(),
    leads: z.boolean(),
    controlPassword: z.string(),
  }),
  z.object({
    kind: z.literal('adopt'),
    owners: z.array(owner),
    /** Whether one of them was killed. */
    isAfterKill: z.boolean(),
  }),
  z.object({ kind: z.literal('lead') }),
  /** `isReplaced`: others go on. */
  z.object({ kind: z.literal('stop'), isReplaced: z.boolean() }),
  planned,
  z.object({ kind: z.literal('redrive') }),
  z.object({ kind: z.literal('redriven'), jobs: z.array(parkedJobs) }),
]);
export type ToMember = z.infer<typeof toMember>;

export const toPrimary = z.discriminatedUnion('kind', [
  /** It listens: messages that come before are lost. */
  z.object({ kind: z.literal('listening') }),
  z.object({ kind: z.literal('ready'), url: z.string(), variables: z.record(z.string(), z.string()) }),
  z.object({ kind: z.literal('failed'), message: z.string() }),
  /** It has stopped what one process does for all. */
  z.object({ kind: z.literal('resigned') }),
  planned,
  z.object({ kind: z.literal('redriveAll') }),
  z.object({ kind: z.literal('redriven'), jobs: parkedJobs }),
]);
export type ToPrimary = z.infer<typeof toPrimary>;
