import { messageId, messageInAnyState, messagePage } from '../examples.ts';
import type { Operations } from '../operation.ts';
import { counting, variables } from '../parameters.ts';

const notWaiting = `There is no message "${messageId}" that waits for its delivery.`;

export const messages: Operations<'messages'> = {
  'GET /v2/messages': {
    id: 'listMessages',
    tag: 'Messages',
    summary: 'List the messages',
    description:
      'Those that wait, or those in the states that are asked for: newest first, one entry for each, without their bodies. Those that have ended are there as long as the log has them. Filters are ANDed, the values of one are ORed. Where few messages match, a page may have fewer than asked for, and still a cursor.',
    variables: {},
    filters: 'listedMessages',
    answers: { 200: { description: 'A page of them.', schema: 'MessagePage', example: messagePage } },
    errors: {
      400: [
        'state is "DONE"; allowed are CREATED, RETRY, DELIVERED, FAILED, CANCELED, CANCELLED, ALL.',
        'count is "500"; allowed is a whole number from 1 to 100.',
      ],
    },
  },
  'GET /v2/messages/count': {
    id: 'countMessages',
    tag: 'Messages',
    summary: 'Count the messages that wait',
    description: `Those that cancelling many messages with the same parameters would cancel. ${counting}`,
    variables: {},
    counts: 'messages',
    answers: { 200: { description: 'Their number.', schema: 'Counted', example: { count: 42 } } },
    errors: { 400: ['label is empty; a filter that is given must have a value.'] },
  },
  'GET /v2/messages/{messageId}': {
    id: 'getMessage',
    tag: 'Messages',
    summary: 'Get a message',
    description:
      'While it waits for a delivery; with `state=ALL` as long as the log has it, and with its state.',
    variables: { messageId: variables.messageId },
    query: {
      state: {
        description: 'Shows a message that has ended as well.',
        schema: { type: 'string', enum: ['ALL'] },
        example: 'ALL',
      },
    },
    answers: {
      200: {
        description: 'The message.',
        schema: 'MessageAnswer',
        example: messageInAnyState,
      },
    },
    errors: {
      400: ['state is "DELIVERED"; allowed is ALL, for a message that has ended as well.'],
      404: [notWaiting, `There is no message "${messageId}", or it is not kept any more.`],
    },
  },
  'DELETE /v2/messages/{messageId}': {
    id: 'cancelMessage',
    tag: 'Messages',
    summary: 'Cancel a message',
    description: 'No attempt starts after this; one that is in flight may still arrive.',
    variables: { messageId: variables.messageId },
    answers: { 200: { description: 'It is cancelled.', schema: 'Cancelled', example: { cancelled: 1 } } },
    errors: { 404: [notWaiting] },
  },
  'DELETE /v2/messages': {
    id: 'cancelMessages',
    tag: 'Messages',
    summary: 'Cancel many messages',
    description:
      'Those with the given ids, in the query or in the body, or else all that match the filters. Safe to repeat.',
    variables: {},
    filters: 'messages',
    body: { required: false, schema: 'MessageIds', example: { messageIds: [messageId] } },
    answers: {
      200: {
        description: 'They are cancelled; with a cursor where the time did not suffice for all.',
        schema: 'Cancelled',
        example: { cancelled: 42 },
      },
    },
    errors: { 400: ['label is empty; a filter that is given must have a value.'] },
  },
};
