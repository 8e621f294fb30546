/** The times that hosts of destinations took to answer, from the attempts that were made. */

/** An attempt as the log has it. */
export interface Timed {
  readonly url: string;
  readonly state: string;
  /** Unix milliseconds both. */
  readonly startedAt: number;
  readonly recordedAt: number;
  /** 0 where there was no answer. */
  readonly status: number;
}

export interface HostTime {
  readonly host: string;
  readonly attempts: number;
  readonly failures: number;
  /** Milliseconds; undefined without answers. */
  readonly p50: number | undefined;
  readonly p95: number | undefined;
}

/** The smallest value that a part of all values does not exceed. @param sorted the smallest first */
const percentile = (sorted: readonly number[], part: number): number | undefined =>
  sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)];

/** Sums attempts up by host: the one with the most attempts first. */
export function hostTimesOf(attempts: readonly Timed[], most: number): readonly HostTime[] {
  const byHost = new Map<string, Timed[]>();
  for (const attempt of attempts) {
    // A destination that is no URL of a host, such as a function, stands for itself.
    const host = new URL(attempt.url).host || attempt.url;
    const own = byHost.get(host);
    if (own === undefined) byHost.set(host, [attempt]);
    else own.push(attempt);
  }
  const hosts = [...byHost].map(([host, own]): HostTime => {
    // An attempt without an answer took as long as its timeout allows, which tells nothing about answers.
    const times = own
      .flatMap(({ status, startedAt, recordedAt }) => (status === 0 ? [] : [recordedAt - startedAt]))
      .sort((one, other) => one - other);
    return {
      host,
      attempts: own.length,
      failures: own.filter(({ state }) => state !== 'DELIVERED').length,
      p50: percentile(times, 0.5),
      p95: percentile(times, 0.95),
    };
  });
  return hosts
    .sort((one, other) => other.attempts - one.attempts || (one.host < other.host ? -1 : 1))
    .slice(0, most);
}
