import { headerName } from '../../../shared/headers.ts';
import { defaultPrefix } from '../../../request/dialect.ts';

export interface Header {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer' };
  readonly example?: string | number;
}

export type AnswerHeaders = Readonly<Record<string, Header>>;

/** The warning of the middleware `usage`, in every operation with a token. */
export const softLimitName = headerName(defaultPrefix, 'soft-limit');
export const softLimit: Header = {
  description:
    'Sent once the account has more messages today than its `max_requests_per_day`: that limit, and their number. Its prefix is the request’s.',
  schema: { type: 'string' },
  example: 'max_requests_per_day=1000; used=1042',
};
