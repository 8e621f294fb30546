import type { Account } from '../../account/account.ts';
import { pullOf } from '../../destination/pull.ts';
import { HoldsNow } from '../../lane/holds.ts';
import { offersOf, type Offer } from './offers.ts';

/** The offers of a name that no hold stops, in order. No offer is read if the whole name is held. */
export class FreeOffers {
  readonly #holds: HoldsNow;
  readonly #free: AsyncGenerator<Offer>;

  constructor(account: Account, name: string) {
    this.#holds = new HoldsNow(account);
    this.#free = freeOffers(account, this.#holds, name);
  }

  /** Whether an offer was held so far. */
  get foundHeld(): boolean {
    return this.#holds.foundAny;
  }

  /** @returns fewer than `most` only at the end */
  async next(most: number): Promise<readonly Offer[]> {
    const some: Offer[] = [];
    while (some.length < most) {
      const next = await this.#free.next();
      if (next.done === true) break;
      some.push(next.value);
    }
    return some;
  }
}

async function* freeOffers(account: Account, holds: HoldsNow, name: string): AsyncGenerator<Offer> {
  if (await holds.concern({ url: pullOf(name), labels: [], topicName: undefined })) return;
  for await (const offer of offersOf(account.id, name)) if (!(await holds.concern(offer))) yield offer;
}
