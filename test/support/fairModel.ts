/** A simple model of the order in which a fair line proceeds: lists in memory, and a ring of names. */
import { priorities, type Priority } from '../../lambdas/value/turn.ts';

const unnamed = '';

interface Tenant {
  readonly lines: Record<Priority, string[]>;
  overtakes: number;
}

export class FairModel {
  readonly #tenants = new Map<string, Tenant>();
  #first: string[] = [];
  #ring: string[] = [];

  #tenant(name: string): Tenant {
    const found = this.#tenants.get(name) ?? { lines: { high: [], normal: [], low: [] }, overtakes: 0 };
    this.#tenants.set(name, found);
    return found;
  }

  #lines(): readonly string[][] {
    return [...this.#tenants.values()].flatMap(({ lines }) => Object.values(lines));
  }

  /** Whether only messages without key and priority wait, so that the line is an ordinary one. */
  #isPlain(): boolean {
    const own = this.#tenant(unnamed).lines.normal;
    return this.#first.length === 0 && this.#lines().every((line) => line === own || line.length === 0);
  }

  get waiting(): number {
    return this.#first.length + this.#lines().reduce((sum, line) => sum + line.length, 0);
  }

  #settle(): void {
    if (!this.#isPlain()) return;
    this.#ring = this.#tenant(unnamed).lines.normal.length > 0 ? [unnamed] : [];
    for (const tenant of this.#tenants.values()) tenant.overtakes = 0;
  }

  join(name: string, priority: Priority, entry: string): void {
    this.#tenant(name).lines[priority].push(entry);
    if (!this.#ring.includes(name)) this.#ring.push(name);
  }

  joinAgain(entry: string): void {
    if (this.#isPlain()) this.#tenant(unnamed).lines.normal.unshift(entry);
    else this.#first.unshift(entry);
    this.#settle();
  }

  leave(entry: string): void {
    this.#first = this.#first.filter((one) => one !== entry);
    for (const { lines } of this.#tenants.values()) {
      for (const priority of priorities) lines[priority] = lines[priority].filter((one) => one !== entry);
    }
    this.#settle();
  }

  has(entry: string): boolean {
    return this.#first.includes(entry) || this.#lines().some((line) => line.includes(entry));
  }

  next(): string | undefined {
    const first = this.#first.shift();
    if (first !== undefined) {
      this.#settle();
      return first;
    }
    for (let name = this.#ring.shift(); name !== undefined; name = this.#ring.shift()) {
      const tenant = this.#tenant(name);
      const [top, ...others] = priorities.filter((priority) => tenant.lines[priority].length > 0);
      if (top === undefined) continue;
      let chosen = top;
      if (others.length === 0) {
        tenant.overtakes = 0;
      } else if (tenant.overtakes < 7) {
        tenant.overtakes += 1;
      } else {
        tenant.overtakes = 0;
        const headOf = (priority: Priority): string => tenant.lines[priority][0] ?? '';
        [chosen = top] = others.toSorted((one, other) => (headOf(one) < headOf(other) ? -1 : 1));
      }
      const entry = tenant.lines[chosen].shift();
      if (Object.values(tenant.lines).some((line) => line.length > 0)) this.#ring.push(name);
      this.#settle();
      return entry;
    }
    return undefined;
  }
}
