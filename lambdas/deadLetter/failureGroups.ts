import { hostOf } from '../destination/place.ts';
import { reasonOf } from '../message/records.ts';

const mostGroups = 100;

interface Times {
  readonly count: number;
  readonly firstFailedAt: number;
  readonly lastFailedAt: number;
}

interface Failure extends Omit<Times, 'count'> {
  readonly url: string;
  /** The URL that represents the group, in groups by URL. */
  readonly shown: string;
  readonly labels?: readonly string[] | undefined;
  readonly answer: Parameters<typeof reasonOf>[0];
}

class Groups {
  readonly #times = new Map<string, Times>();

  add(name: string, failure: Failure): void {
    const { count, firstFailedAt, lastFailedAt } = this.#times.get(name) ?? { ...failure, count: 0 };
    this.#times.set(name, {
      count: count + 1,
      firstFailedAt: Math.min(firstFailedAt, failure.firstFailedAt),
      lastFailedAt: Math.max(lastFailedAt, failure.lastFailedAt),
    });
  }

  largest(): readonly (readonly [name: string, times: Times])[] {
    return [...this.#times]
      .sort(([, one], [, other]) => other.count - one.count || other.lastFailedAt - one.lastFailedAt)
      .slice(0, mostGroups);
  }
}

/** Groups failures by host and status, by reason, by label, and by URL. */
export class FailureGroups {
  readonly #byHost = new Groups();
  readonly #byError = new Groups();
  readonly #byLabel = new Groups();
  readonly #byUrl = new Groups();

  add(failure: Failure): void {
    const { url, shown, labels, answer } = failure;
    this.#byHost.add(`${answer.status} ${hostOf(url)}`, failure);
    this.#byError.add(reasonOf(answer), failure);
    for (const label of new Set(labels)) this.#byLabel.add(label, failure);
    this.#byUrl.add(shown, failure);
  }

  shown() {
    return {
      groups: this.#byHost.largest().map(([name, times]) => {
        const at = name.indexOf(' ');
        return { host: name.slice(at + 1), responseStatus: Number(name.slice(0, at)), ...times };
      }),
      errors: this.#byError.largest().map(([error, times]) => ({ error, ...times })),
      labels: this.#byLabel.largest().map(([label, times]) => ({ label, ...times })),
      urls: this.#byUrl.largest().map(([url, times]) => ({ url, ...times })),
    };
  }
}
