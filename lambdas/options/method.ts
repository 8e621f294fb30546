import * as z from 'zod/mini';
import { methods, type Method } from '../value/method.ts';
import { badField, quote } from '../error/httpError.ts';
import type { FormFields, Given, Settings } from './option.ts';

export const settings = {
  method: {
    description: 'The HTTP method of the delivery. Default: `POST`.',
    schema: { type: 'string', enum: methods },
    example: 'PUT',
    scopes: ['message', 'callback', 'retry'],
  },
} as const satisfies Settings;

function parseMethod(field: string, value: string): Method {
  const method = methods.find((known) => known === value.toUpperCase());
  if (method === undefined) throw badField(`${field} is ${quote(value)}; allowed are ${methods.join(', ')}.`);
  return method;
}

export const parse = (given: Given): Method | undefined => given.read('method', parseMethod);

export const stored = /* @__PURE__ */ z.enum(methods);

export const answer = { method: stored };

export const show = (method: Method) => ({ method });

export const write = ({ method }: { readonly method: string }) => ({ method });

export const fields = {
  method: { label: 'Method', place: 'destination', choices: methods },
} satisfies FormFields;
