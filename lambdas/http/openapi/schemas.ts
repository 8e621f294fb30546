import * as z from 'zod/mini';
import { accountChange, newAccountInput } from '../../domain/accountShapes.ts';
import * as answers from '../../domain/answers.ts';
import { idBodies } from '../../domain/filters.ts';
import {
  addedEndpoints,
  batchItem,
  groupDefaults,
  longestBatch,
  queueSettings,
  removedEndpoints,
} from '../../domain/requests.ts';

/** Every JSON body that comes in or goes out, by the name the description gives it. */
const shapes = {
  Error: answers.error,
  Published: answers.published,
  PublishedToEndpoint: answers.publishedToEndpoint,
  PublishAnswer: answers.publishAnswer,
  BatchItem: batchItem,
  BatchRequest: z.array(batchItem).check(z.maxLength(longestBatch)),
  ItemError: answers.itemError,
  BatchAnswer: answers.batchAnswer,
  Message: answers.message,
  MessageIds: idBodies.messages,
  Cancelled: answers.cancelled,
  LogEntry: answers.logEntry,
  LogPage: answers.logPage,
  EventPage: answers.eventPage,
  UrlGroup: answers.urlGroup,
  UrlGroups: answers.urlGroups,
  AddedEndpoints: addedEndpoints,
  RemovedEndpoints: removedEndpoints,
  GroupDefaults: groupDefaults,
  QueueSettings: queueSettings,
  Queue: answers.queue,
  Queues: answers.queues,
  ListedDeadLetter: answers.listedDeadLetter,
  DeadLetter: answers.deadLetter,
  DeadLetterPage: answers.deadLetterPage,
  DlqIds: idBodies.dlq,
  Deleted: answers.deleted,
  Retried: answers.messageIdAnswer,
  RetriedPage: answers.retriedPage,
  Schedule: answers.schedule,
  Schedules: answers.schedules,
  Scheduled: answers.scheduled,
  SigningKeys: answers.signingKeys,
  NewAccount: newAccountInput,
  AccountChange: accountChange,
  Account: answers.account,
  Accounts: answers.accounts,
  AccountStats: answers.accountStats,
  Health: answers.health,
  Description: answers.description,
  Nothing: answers.nothing,
} as const satisfies Record<string, z.ZodMiniType>;

export type SchemaName = keyof typeof shapes;

/** What a body of this name may be, as the compiler sees it: for examples. */
export type Shown<Name extends SchemaName> = answers.Answer<(typeof shapes)[Name]>;

export interface Reference {
  readonly $ref: string;
}

const uri = (name: string): string => `#/components/schemas/${name}`;

export const schemaOf = (name: SchemaName): Reference => ({ $ref: uri(name) });

/**
 * The shapes as JSON Schema, referring to each other. Objects stay open: answers may get more fields, and clients must
 * not mind.
 */
export function componentSchemas(): Readonly<Record<string, object>> {
  const registry = z.registry<{ id: string }>();
  for (const [id, shape] of Object.entries(shapes)) registry.add(shape, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri,
    io: 'input',
    override: ({ jsonSchema }) => {
      // Said of every integer and of every map, these only hide what is said of one.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (JSON.stringify(jsonSchema.propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames;
    },
  });
  // Each would say its own name, which the place where it stands says already.
  const isSaid = ([keyword]: readonly [string, unknown]): boolean => /^\$(id|schema)$/.test(keyword);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      Object.fromEntries(Object.entries(schema).filter((entry) => !isSaid(entry))),
    ]),
  );
}

/** Those of the shapes that something refers to, and those that they refer to. */
export function schemasIn(described: unknown): Readonly<Record<string, object>> {
  const all = componentSchemas();
  const found = new Set<string>();
  const look = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      look(all[name]);
    }
  };
  look(described);
  return Object.fromEntries(Object.entries(all).filter(([name]) => found.has(name)));
}
