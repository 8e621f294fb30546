import type { Context } from 'aws-lambda';
import type { ApiRequest } from './request.ts';

/**
 * The result of a function behind an API, in a form that API Gateway and function URLs both take: a header has one value, because
 * function URLs know no `multiValueHeaders`.
 */
export interface Result {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded?: boolean;
}

/** Answers a request. Never rejects: an error is an answer, too. */
export type Answer = (request: ApiRequest, context: Context) => Promise<Result>;
