/** The tools for agents: frequent operations under their own names, two that combine several, and the way to all others. */
import type { Tool as ToolDescription } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod/mini';
import { Ending } from '../../cli/commandLine.ts';
import { ask, askOperation, type Connection } from '../api/connection.ts';
import {
  firstSentence,
  knownOperation,
  operations,
  operationOf,
  variablesOf,
  type ApiOperation,
} from '../api/operations.ts';
import { namesOf, requestOf, type Values } from '../api/request.ts';
import { explain } from './explain.ts';

const fields = z.record(z.string(), z.unknown());
type Arguments = Readonly<z.output<typeof fields>>;

type Tool = ToolDescription & {
  readonly call: (connection: Connection, given: Arguments, isAllowed: Consent) => Promise<unknown>;
};

/** Asks the person. @throws Ending if the person refuses, or cannot be asked */
export type Consent = (question: string) => Promise<void>;

const reading = ['listMessages', 'listLogs', 'listDeadLetters', 'listRuns', 'findNames'];
const writing = [
  ...['publishMessage', 'retryDeadLetter', 'retryDeadLetters', 'resumeRun'],
  ...['holdHost', 'releaseHost', 'holdLabel', 'releaseLabel'],
];

/** Entries on a page if the agent does not say, because all of them fill its context. */
const fewEntries = 20;

const hasBody = ({ fields: own, parameters }: ApiOperation): boolean =>
  own !== undefined && Object.keys(own).length === 0 && !parameters.some(({ name }) => name === 'body');

function schemaOf(operation: ApiOperation): Tool['inputSchema'] {
  const names = namesOf(operation).filter((name) => !/\*$|^(failure-)?callback-/.test(name));
  const properties = names.map((name) => {
    const { description = '', schema } =
      operation.parameters.find((one) => one.name === name || one.name.toLowerCase() === `svc-${name}`) ?? {};
    return [
      name,
      { description: firstSentence(description), ...(schema ?? operation.fields?.[name]) },
    ] as const;
  });
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(properties),
      ...(hasBody(operation) && { body: { description: 'The body, a text or JSON.' } }),
    },
    required: [...variablesOf(operation)],
  };
}

async function callOperation(
  operation: ApiOperation,
  connection: Connection,
  given: Arguments,
  isAllowed: Consent,
): Promise<unknown> {
  const { body, ...rest } = given;
  const isWhole = hasBody(operation) && body !== undefined;
  const isShort = operation.isRead && namesOf(operation).includes('count') && given['count'] === undefined;
  const values: Values = [
    ...Object.entries(isWhole ? rest : given),
    ...(isShort ? [['count', fewEntries] as const] : []),
  ];
  const data = isWhole ? (typeof body === 'string' ? body : JSON.stringify(body)) : undefined;
  const request = requestOf(operation, values, data);
  if (operation.needsConsent)
    await isAllowed(
      `${operation.summary}?\n${request.method} ${request.path}${request.body === undefined ? '' : `\n${String(request.body)}`}`,
    );
  return (await ask(connection, request)).json;
}

const hints = (title: string, readOnlyHint: boolean, destructiveHint = false) => ({
  title,
  readOnlyHint,
  destructiveHint,
});

const toolOf = (id: string): Tool => {
  const operation = knownOperation(id);
  return {
    name: id,
    description: `${operation.summary}. ${operation.description}`,
    inputSchema: schemaOf(operation),
    annotations: hints(operation.summary, operation.isRead, operation.needsConsent),
    call: (connection, given, isAllowed) => callOperation(operation, connection, given, isAllowed),
  };
};

const text = (description: string) => ({ type: 'string', description });
const filters = Object.fromEntries(
  ['label', 'host', 'url', 'queueName'].map((name) => [name, text(`The filter ${name}.`)]),
);

const explaining: Tool = {
  name: 'explainMessage',
  description:
    'Says why a message did not arrive: its state, each attempt with the answer, and what holds it back: a hold, a circuit, its queue or its key. Takes an id, or filters of listMessages, of whose messages it explains the newest.',
  inputSchema: { type: 'object', properties: { messageId: text('The message’s id.'), ...filters } },
  annotations: hints('Explain why a message did not arrive', true),
  call: (connection, given) => explain(connection, Object.entries(given)),
};

const counting: Tool = {
  name: 'countFailures',
  description:
    'Groups failures by host and status, reason, label and URL: dead letters, which failed permanently, and messages that will be retried. Without filters it also says what needs attention.',
  inputSchema: { type: 'object', properties: filters },
  annotations: hints('Group failures', true),
  call: async (connection, given) => {
    const values = Object.entries(given);
    const [deadLetters, retrying, attention] = await Promise.all([
      askOperation(connection, 'countDeadLetters', values),
      askOperation(connection, 'countMessages', [...values, ['by', 'failure']]),
      values.length === 0 ? askOperation(connection, 'getAttention', []) : undefined,
    ]);
    return { deadLetters, retrying, attention };
  },
};

const listed = (operation: ApiOperation) => ({
  id: operation.id,
  summary: operation.summary,
  fields: namesOf(operation).filter((name) => !/^(failure-)?callback-/.test(name)),
});

const finding = (isWriting: boolean): Tool => ({
  name: 'findOperations',
  description: `Finds operations of the API, with their fields, by words of their names: queues, schedules and their fires, holds, circuits, URL groups, the audit trail, tokens, alarms, usage. Do one with readOperation${isWriting ? ' or writeOperation' : ''}.`,
  inputSchema: {
    type: 'object',
    properties: { words: text('Such as "schedule" or "audit".') },
    required: ['words'],
  },
  annotations: hints('Find operations', true),
  call: (_connection, given) => {
    const words = String(given['words']).toLowerCase().split(/\s+/);
    const found = operations.filter(({ id, path, summary, isRead, answersSecret }) => {
      const all = `${id} ${path} ${summary}`.toLowerCase();
      return (isRead || isWriting) && !answersSecret && words.some((word) => all.includes(word));
    });
    return Promise.resolve(found.map(listed));
  },
});

const anyOf = (kind: 'read' | 'write'): Tool => ({
  name: `${kind}Operation`,
  description:
    kind === 'read'
      ? 'Does an operation that only reads; findOperations lists them.'
      : 'Does an operation that changes something; findOperations lists them. The person is asked before deletions and bulk operations.',
  inputSchema: {
    type: 'object',
    properties: {
      operation: text('Its id.'),
      values: { type: 'object', description: 'Its fields, and body for a whole body.' },
    },
    required: ['operation'],
  },
  annotations: hints(`${kind === 'read' ? 'Read' : 'Change'} anything`, kind === 'read', kind === 'write'),
  call: (connection, { operation: id, values = {} }, isAllowed) => {
    const operation = operationOf(String(id));
    if (operation === undefined)
      throw new Ending(`There is no operation ${String(id)}; findOperations lists them.`, 2);
    if (operation.answersSecret)
      throw new Ending(
        `${operation.id} answers with a secret, which is not for agents; a person does it.`,
        2,
      );
    if (kind === 'read' && !operation.isRead)
      throw new Ending(`${operation.id} changes something; readOperation only reads.`, 2);
    return callOperation(operation, connection, fields.parse(values), isAllowed);
  },
});

export const toolsFor = (isWriting: boolean): readonly Tool[] => [
  explaining,
  counting,
  ...reading.map(toolOf),
  finding(isWriting),
  anyOf('read'),
  ...(isWriting ? [...writing.map(toolOf), anyOf('write')] : []),
];
