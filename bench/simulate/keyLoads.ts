/**
 * Adds up the units written and read per second for each partition key of a table or index. DynamoDB limits them per partition,
 * and a key's rows in the order of time are in one partition.
 */
type Direction = 'write' | 'read';

/** Units per second that DynamoDB allows for a partition ("Best practices for designing and using partition keys"). */
export const partitionLimits: Readonly<Record<Direction, number>> = { write: 1_000, read: 3_000 };

export interface KeyLoad {
  readonly place: string;
  /** The kind of key, such as `account#shard`. */
  readonly kind: string;
  readonly direction: Direction;
  readonly keys: number;
  readonly peak: number;
  /** The hottest key's average units per second. */
  readonly mean: number;
  readonly all: number;
}

export class KeyLoads {
  /** The units of each second, by place, kind and direction, then by key. */
  readonly #loads = new Map<string, Map<string, number[]>>();

  /** @param second of the simulated time, from 0 */
  note(
    use: {
      readonly place: string;
      readonly kind: string;
      readonly key: string;
      readonly direction: Direction;
    },
    units: number,
    second: number,
  ): void {
    const name = [use.place, use.kind, use.direction].join(' | ');
    const keys = this.#loads.get(name) ?? new Map<string, number[]>();
    this.#loads.set(name, keys);
    const seconds = keys.get(use.key) ?? [];
    keys.set(use.key, seconds);
    seconds[second] = (seconds[second] ?? 0) + units;
  }

  hottest(seconds: number): readonly KeyLoad[] {
    return [...this.#loads].map(([name, keys]) => {
      const [place = '', kind = '', direction = ''] = name.split(' | ');
      const all = [...keys.values()].map((units) => {
        const used = units.filter((one) => one > 0);
        return { peak: Math.max(...used), total: used.reduce((sum, one) => sum + one, 0) };
      });
      const hottest = all.reduce((most, one) => (one.peak > most.peak ? one : most));
      return {
        place,
        kind,
        direction: direction === 'read' ? 'read' : 'write',
        keys: keys.size,
        peak: hottest.peak,
        mean: hottest.total / seconds,
        all: all.reduce((sum, { total }) => sum + total, 0) / seconds,
      };
    });
  }
}

export const isTooHot = ({ peak, direction }: KeyLoad): boolean => peak > partitionLimits[direction];
