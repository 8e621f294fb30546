import type { Account } from './account.ts';
import type { Access } from './credentials.ts';
import type { NamedToken } from './namedToken.ts';

export interface Caller {
  readonly account: Account;
  readonly access: Access | 'publish';
  readonly named?: NamedToken;
}
