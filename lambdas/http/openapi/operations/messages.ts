import { message, messageId } from '../examples.ts';
import type { Operations } from '../operation.ts';
import { variables } from '../parameters.ts';

const notWaiting = [
  'message_not_found',
  `There is no message "${messageId}" that waits for its delivery.`,
] as const;

export const messages: Operations<'messages'> = {
  'GET /v2/messages/{messageId}': {
    id: 'getMessage',
    tag: 'Messages',
    summary: 'Get a message',
    description: 'Only while it waits for a delivery; what became of it later is in the log.',
    variables: { messageId: variables.messageId },
    answers: { 200: { description: 'The message.', schema: 'Message', example: message } },
    errors: { 404: [notWaiting] },
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
    errors: { 400: [['field_invalid', 'label is empty; a filter that is given must have a value.']] },
  },
};
