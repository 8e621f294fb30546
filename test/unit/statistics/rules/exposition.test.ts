import { expect, it } from 'vitest';
import { expositionOf } from '../../../../lambdas/statistics/rules/exposition.ts';

it('Metrics are written in Prometheus’ format, with escaped texts', () => {
  const text = expositionOf([
    { name: 'up', type: 'gauge', help: 'Whether it is \\ up\n"now".', series: [{ value: 1 }] },
    { name: 'none', type: 'gauge', help: 'Nothing.', series: [] },
    {
      name: 'sent_total',
      type: 'counter',
      help: 'Sent.',
      series: [
        { labels: { key: 'a "b" \\ c\nd', state: 'RETRY' }, value: 2.5 },
        { labels: { key: 'e' }, value: 0 },
      ],
    },
  ]);
  expect(text).toBe(
    [
      '# HELP up Whether it is \\\\ up\\n"now".',
      '# TYPE up gauge',
      'up 1',
      '# HELP sent_total Sent.',
      '# TYPE sent_total counter',
      'sent_total{key="a \\"b\\" \\\\ c\\nd",state="RETRY"} 2.5',
      'sent_total{key="e"} 0',
      '',
    ].join('\n'),
  );
});
