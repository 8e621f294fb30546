/**
 * Finds what a handler's source can request from AWS: which operation, on which table, queue, bucket, secret or schedule group.
 * It follows names from the handler's file through imports, one top-level declaration after another, like a bundler that
 * removes unused code. It does not know which branch runs, so it finds what the code can do.
 */
import { join } from 'node:path';
import { declarationsOf, lambdas, type Declaration } from './declarations.ts';

/** The AWS service of each operation that the code may use. Other operations are errors until they are added here. */
const operationsByService = {
  dynamodb: [
    'GetItem',
    'PutItem',
    'UpdateItem',
    'DeleteItem',
    'Query',
    'Scan',
    'BatchGetItem',
    'BatchWriteItem',
  ],
  sqs: [
    'SendMessage',
    'SendMessageBatch',
    'GetQueueAttributes',
    'ReceiveMessage',
    'DeleteMessage',
    'DeleteMessageBatch',
    'ChangeMessageVisibilityBatch',
  ],
  s3: ['GetObject', 'PutObject', 'DeleteObject'],
  scheduler: ['CreateSchedule', 'DeleteSchedule'],
  secretsmanager: ['GetSecretValue', 'PutSecretValue'],
  lambda: ['Invoke'],
  sns: ['Publish'],
  events: ['PutEvents'],
} as const;
type Service = keyof typeof operationsByService;

/** The settings that name something in AWS, by service, each with the word for it. */
const resourcesByService: Readonly<Record<Service, Readonly<Record<string, string>>>> = {
  dynamodb: {
    messagesTable: 'messages',
    dlqTable: 'dlq',
    groupsTable: 'groups',
    lanesTable: 'lanes',
    workflowsTable: 'workflows',
    schedulesTable: 'schedules',
    deduplicationTable: 'deduplication',
    accountsTable: 'accounts',
    usageTable: 'usage',
  },
  sqs: {
    shortQueueUrl: 'short',
    longQueueUrl: 'long',
    slowQueueUrl: 'slow',
    parkedQueueUrl: 'parked',
    deadQueueUrl: 'dead',
    fireQueueUrl: 'fire',
    undeliveredFiresQueueUrl: 'undeliveredFires',
    accountChangesQueues: 'accountChanges',
    destinations: 'queues of users',
  },
  s3: { bodiesBucket: 'bodies' },
  scheduler: { scheduleGroup: 'schedules' },
  secretsmanager: { masterSecretId: 'master', managementSecretId: 'management', tlsSecrets: 'TLS' },
  lambda: { lambdaDestinations: 'functions', destinations: 'functions' },
  sns: { destinations: 'topics' },
  events: { destinations: 'buses' },
};

const services: readonly Service[] = [
  'dynamodb',
  'sqs',
  's3',
  'scheduler',
  'secretsmanager',
  'lambda',
  'sns',
  'events',
];

/** This function finds the queue that a message came from: the one that invokes the handler. */
const findsSourceQueue = 'sourceOf';
export const sourceQueue = 'the queue it came from';

/** This function writes an account's secret in an app. It gets the ARN. */
const writesSecretOfAccount = 'keepInSecret';

/** An operation without its resource, or a resource without its operation. */
interface Half {
  readonly service: Service;
  readonly name: string;
  /** The function of an object that does the operation. Only a call of it counts. */
  readonly method?: string | undefined;
}

/** The halves that a declaration leaves open. Declarations that refer to it may have the other halves. */
interface Open {
  readonly operations: readonly Half[];
  readonly resources: readonly Half[];
}

function serviceOf(operation: string): Service {
  const found = services.find((service) => operationsByService[service].some((known) => known === operation));
  if (found === undefined) throw new Error(`It is not known which service has the operation ${operation}.`);
  return found;
}

const resourcesIn = (declaration: Declaration): readonly Half[] => {
  if (declaration.name === findsSourceQueue) return [{ service: 'sqs', name: sourceQueue }];
  if (declaration.name === writesSecretOfAccount)
    return [{ service: 'secretsmanager', name: 'secret of an account' }];
  if (!declaration.identifiers.has('settings')) return [];
  // A declaration that only describes a query of an index leaves the query to others.
  const of = declaration.operations.length === 0 ? declaration.index : undefined;
  return services.flatMap((service) =>
    Object.entries(resourcesByService[service])
      .filter(([setting]) => declaration.members.has(setting))
      .map(([, name]) => ({ service, name: of === undefined ? name : `${name}/index/${of}` })),
  );
};

const operationsIn = (declaration: Declaration): readonly Half[] =>
  declaration.operations.map(({ operation, method }) => ({
    service: serviceOf(operation),
    name: operation,
    method,
  }));

/** Leaves out the functions of an object that a declaration does not call. If it calls none, it passes the object on. */
function called(operations: readonly Half[], { members }: Declaration): readonly Half[] {
  const methods = operations.flatMap(({ method }) => (method === undefined ? [] : [method]));
  if (!methods.some((method) => members.has(method))) return operations;
  return operations
    .filter(({ method }) => method === undefined || members.has(method))
    .map(({ service, name }) => ({ service, name }));
}

/** Follows declarations, and collects what they can request from AWS. */
class Reach {
  /** Texts such as `dynamodb:GetItem messages`. */
  readonly rights = new Set<string>();
  readonly #known = new Map<Declaration, Open>();
  readonly #except: (declaration: Declaration) => boolean;

  constructor(except: (declaration: Declaration) => boolean) {
    this.#except = except;
  }

  /** Follows a declaration, once. */
  of(declaration: Declaration): Open {
    const known = this.#known.get(declaration);
    if (known !== undefined) return known;
    // A declaration that refers to itself, even indirectly, leaves nothing open to itself.
    this.#known.set(declaration, { operations: [], resources: [] });
    if (this.#except(declaration)) return { operations: [], resources: [] };
    const below = (declaration.name === findsSourceQueue ? [] : declaration.refersTo()).map((referred) =>
      this.of(referred),
    );
    const operations = called(
      [...operationsIn(declaration), ...below.flatMap((open) => open.operations)],
      declaration,
    );
    const resources = [...resourcesIn(declaration), ...below.flatMap((open) => open.resources)];
    const open = this.#join(operations, resources, declaration);
    this.#known.set(declaration, open);
    return open;
  }

  /** Joins halves of one service. A half without a counterpart stays open. */
  #join(operations: readonly Half[], resources: readonly Half[], { index }: Declaration): Open {
    const isJoined = (half: Half, others: readonly Half[]) =>
      others.some(({ service }) => service === half.service);
    for (const { service, name, method } of operations) {
      // An object of functions, opened on its resource, is passed on until one of them is called.
      if (method !== undefined) continue;
      for (const resource of resources.filter((half) => half.service === service)) {
        const place =
          name === 'Query' && index !== undefined && !resource.name.includes('/index/')
            ? `${resource.name}/index/${index}`
            : resource.name;
        this.rights.add(`${service}:${name} ${place}`);
      }
    }
    const passed = operations.filter((half) => half.method !== undefined || !isJoined(half, resources));
    return {
      operations: passed,
      resources: resources.filter((half) => !isJoined(half, operations) || isJoined(half, passed)),
    };
  }
}

/**
 * @param except declarations that are known not to run
 * @returns texts such as `dynamodb:GetItem messages`, sorted
 * @throws Error for an operation without a known resource
 */
export function reachOf(
  handler: string,
  except: (declaration: Declaration) => boolean = () => false,
): readonly string[] {
  const reach = new Reach(except);
  const file = join(lambdas, 'handlers', `${handler}.ts`);
  for (const declaration of declarationsOf(file)) {
    const [open] = reach.of(declaration).operations;
    if (open !== undefined)
      throw new Error(`It is not found what ${handler} does ${open.service}:${open.name} to.`);
  }
  return [...reach.rights].sort();
}
