/** Messages between the primary and the members of a stage. */
import * as z from 'zod/mini';
import type { FrontName } from '../stage/share.ts';
import { parkedJobs } from '../sqs/redrive.ts';

/** Set in the environment of members. */
export const memberVariable = 'SVC_MEMBER';

const owner = z.int().check(z.gte(0));
const hosts = z.array(z.string());
const fire = z.object({ id: z.object({ group: z.string(), name: z.string() }), dueAt: z.number() });
const planned = z.object({ kind: z.literal('planned'), fire });

const front = z.enum(['api', 'publish']) satisfies z.ZodMiniType<FrontName>;

export const toMember = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('start'),
    owner,
    /** Processes that have ended, whose messages the member takes over. */
    adopts: z.array(owner),
    isFirst: z.boolean(),
    peers: hosts,
    ports: z.object({ api: z.number(), publish: z.optional(z.number()) }),
  }),
  z.object({
    kind: z.literal('adopt'),
    owners: z.array(owner),
    /** Whether one of these processes was killed. */
    isAfterKill: z.boolean(),
  }),
  z.object({ kind: z.literal('lead') }),
  /** A member has ended, and may not have reported all fires that it planned. */
  z.object({ kind: z.literal('readAgain') }),
  z.object({ kind: z.literal('peers'), hosts }),
  /** `isReplaced`: other members continue. */
  z.object({ kind: z.literal('stop'), isReplaced: z.boolean() }),
  planned,
  z.object({ kind: z.literal('redrive') }),
  z.object({ kind: z.literal('redriven'), jobs: z.array(parkedJobs) }),
  /** Sent together with a connection. */
  z.object({ kind: z.literal('connection'), id: z.number(), front }),
]);
export type ToMember = z.infer<typeof toMember>;

export const toPrimary = z.discriminatedUnion('kind', [
  /** Messages that are sent before this one are lost. */
  z.object({ kind: z.literal('listening') }),
  z.object({
    kind: z.literal('ready'),
    url: z.string(),
    variables: z.record(z.string(), z.string()),
    inside: hosts,
  }),
  z.object({ kind: z.literal('failed'), message: z.string() }),
  z.object({ kind: z.literal('taken'), id: z.number() }),
  /** The member has stopped the work that one process does for all. */
  z.object({ kind: z.literal('resigned') }),
  planned,
  z.object({ kind: z.literal('redriveAll') }),
  z.object({ kind: z.literal('redriven'), jobs: parkedJobs }),
]);
export type ToPrimary = z.infer<typeof toPrimary>;
