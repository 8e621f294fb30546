/** The stand-in for Amazon DynamoDB: the operations that the service and its tests use, on the stage's store. */
import { AwsError } from '../aws/awsError.ts';
import type { HandOver } from '../aws/handOver.ts';
import {
  checkedOperations,
  handedOverBy,
  startJsonServer,
  type AwsServer,
  type Operation,
} from '../aws/server.ts';
import type { Store } from '../store/store.ts';
import { bytesToText, membersToText, textToBytes } from './codec.ts';
import {
  batchGetInput,
  batchWriteInput,
  deleteInput,
  getInput,
  putInput,
  queryInput,
  scanInput,
  updateInput,
  wordsOf,
} from './inputs.ts';
import { batchGetItem, getItem, query, scan } from './reads.ts';
import { Rows } from './rows.ts';
import { allTables } from './table.ts';
import { batchWriteItem, deleteItem, putItem, updateItem } from './writes.ts';

export interface Dynamodb extends AwsServer {
  readonly handOver: HandOver;
  readonly rows: Rows;
}

export async function startDynamodb(store: Store, report: (error: unknown) => void): Promise<Dynamodb> {
  const rows = new Rows(store);
  const server = await startJsonServer({
    version: '1.0',
    operations: overHttp,
    contextOf: () => rows,
    unknownCode: 'UnknownOperationException',
    failureCode,
    report,
  });
  return { ...server, handOver: handOverTo(rows, report), rows };
}

/** Answers calls of this process. Values are as in the SDK, with bytes as `Uint8Array`s. */
export const handOverTo = (rows: Rows, report: (error: unknown) => void): HandOver =>
  handedOverBy(
    (name, input) => {
      const operation = operations.get(name);
      if (operation !== undefined) return operation(rows, input);
      throw new AwsError('UnknownOperationException', `The local stage has no operation ${name}.`);
    },
    { failureCode, report },
  );

const failureCode = 'InternalServerError';

const operation = checkedOperations<Rows>('ValidationException', wordsOf);

const read: typeof operation = (schema, run) => {
  const checked = operation(schema, run);
  return (rows, input) => {
    rows.store.refresh();
    return checked(rows, input);
  };
};

const operations: ReadonlyMap<string, Operation<Rows>> = new Map(
  Object.entries({
    GetItem: read(getInput, getItem),
    BatchGetItem: read(batchGetInput, batchGetItem),
    Query: read(queryInput, query),
    Scan: read(scanInput, scan),
    PutItem: operation(putInput, putItem),
    UpdateItem: operation(updateInput, updateItem),
    DeleteItem: operation(deleteInput, deleteItem),
    BatchWriteItem: operation(batchWriteInput, batchWriteItem),
    ListTables: () => ({ TableNames: allTables.map(({ name }) => name).toSorted() }),
  }),
);

/** Over HTTP, bytes are base64. */
const overHttp = new Map(
  [...operations].map(([name, run]): [string, Operation<Rows>] => [
    name,
    async (rows, input) => {
      try {
        return bytesToText(await run(rows, textToBytes(input)));
      } catch (error) {
        if (!(error instanceof AwsError)) throw error;
        throw new AwsError(error.code, error.message, error.status, membersToText(error.members));
      }
    },
  ]),
);
