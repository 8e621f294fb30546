/** Prometheus' text format, version 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/ */

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

export interface Family {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly series: readonly Series[];
}

export interface Series {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

const labelsText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');

/** Omits metrics without series. */
export const expositionOf = (families: readonly Family[]): string =>
  families
    .filter(({ series }) => series.length > 0)
    .map(({ name, type, help, series }) =>
      [
        `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
        `# TYPE ${name} ${type}`,
        ...series.map(({ labels, value }) =>
          labels === undefined ? `${name} ${value}` : `${name}{${labelsText(labels)}} ${value}`,
        ),
        '',
      ].join('\n'),
    )
    .join('');
